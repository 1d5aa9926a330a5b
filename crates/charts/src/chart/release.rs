//! Problems that releases of a chart can have under an operator.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::permissions::{Rendered, objects};
use super::{Chart, Render};
use opctl_model::project::builtin::is_in_no_namespace;

/// The name of the release in renderings.
pub const RELEASE: &str = "opctl-sample";
/// The namespace of the release in renderings.
pub const NAMESPACE: &str = "opctl-namespace";

/// The maximum size of a release's record in bytes: that of a Secret's data.
pub const LIMIT: usize = 1 << 20;
const WARN_FROM: usize = 700 << 10;

/// Sentences about possible problems with releases of a chart.
pub fn concerns(chart: &Chart, renders: &[Render], known: &crate::spec::Known) -> Vec<String> {
    let mut concerns = BTreeSet::new();
    let rendered = objects(renders);
    for objects in &rendered {
        concerns.extend(scaled(objects));
    }
    let all: Vec<&Rendered> = rendered.iter().flatten().collect();
    let list = |is: &dyn Fn(&&Rendered) -> bool| {
        let names: BTreeSet<String> =
            all.iter().copied().filter(is).map(|it| format!("{} `{}` ({})", it.kind, it.name(), it.template)).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    };
    let is_wide =
        |it: &&Rendered| known.plural(&it.group, &it.kind).is_some_and(|plural| is_in_no_namespace(&it.group, plural));
    let is_crd = |it: &&Rendered| it.kind == "CustomResourceDefinition";
    for (what, names) in [
        ("objects in no namespace, which a ClusterRole has to permit", list(&|it| is_wide(it) && !is_crd(it))),
        ("objects in another namespace than the release", list(&|it| is_elsewhere(it))),
        (
            "objects whose names do not depend on the release, so a second release fails in the same namespace",
            list(&|it| !it.name().contains(RELEASE) && !is_crd(it)),
        ),
    ] {
        if !names.is_empty() {
            concerns.insert(format!("the chart has {what}: {names}"));
        }
    }
    let manifest = renders.iter().map(|render| render.text.as_str()).max_by_key(|text| text.len()).unwrap_or_default();
    let size = record_size(&chart.files, manifest);
    if size >= WARN_FROM {
        concerns.insert(format!(
            "the record of a release has {} KiB, and a Secret at most 1024: move large files or CRDs out of the chart",
            size >> 10
        ));
    }
    concerns.into_iter().collect()
}

/// Workloads with `replicas` in the chart that are also the target of an autoscaler.
fn scaled(objects: &[Rendered]) -> Vec<String> {
    let autoscalers = objects.iter().filter(|it| it.kind == "HorizontalPodAutoscaler");
    let targets = autoscalers.map(|it| &it.object["spec"]["scaleTargetRef"]);
    let both = targets.filter_map(|target| {
        let target = |it: &&Rendered| it.kind == target["kind"] && it.name() == target["name"];
        objects.iter().find(target).filter(|it| !it.object["spec"]["replicas"].is_null())
    });
    both.map(|it| {
        format!(
            "the chart sets `replicas` of the {} `{}` ({}) beside a HorizontalPodAutoscaler: each upgrade resets them",
            it.kind,
            it.name(),
            it.template
        )
    })
    .collect()
}

fn is_elsewhere(it: &Rendered) -> bool {
    it.object["metadata"]["namespace"].as_str().is_some_and(|namespace| namespace != NAMESPACE)
}

/// The size of a helm release record in bytes: gzipped JSON in base64. `files` are those of the chart by path, without
/// those of its dependencies.
pub fn record_size(files: &BTreeMap<String, String>, manifest: &str) -> usize {
    let files: Value =
        files.iter().map(|(path, text)| json!({ "name": path, "data": STANDARD.encode(text) })).collect();
    let record = json!({ "name": RELEASE, "chart": files, "manifest": manifest }).to_string();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let compressed = encoder.write_all(record.as_bytes()).and_then(|()| encoder.finish());
    // Writing to memory cannot fail.
    compressed.unwrap_or_default().len().div_ceil(3) * 4
}
