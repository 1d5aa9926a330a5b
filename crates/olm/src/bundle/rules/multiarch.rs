//! Platforms: compares the labels of the ClusterServiceVersion with the node affinity of the Deployments. Source:
//! `multiarch.go` of operator-framework/api, which also inspects the images; opctl reports that it does not.

use std::collections::BTreeSet;

use super::super::findings::Findings;
use super::super::folder::Bundle;
use super::{head, place, text, texts};
use opctl_kustomize::yaml::Node;

pub fn check(bundle: &Bundle, findings: &mut Findings) {
    let labels = bundle.csv().node.at(&["metadata", "labels"]);
    let supported = |prefix: &str, default: &'static str| {
        let of_label = |entry: &opctl_kustomize::yaml::Entry| {
            let name = entry.key.strip_prefix(prefix)?;
            (entry.value.as_text() == Some("supported")).then(|| name.to_owned())
        };
        let found: BTreeSet<String> = labels.iter().flat_map(|labels| labels.entries()).filter_map(of_label).collect();
        if found.is_empty() { BTreeSet::from([default.to_owned()]) } else { found }
    };
    let (arches, systems) =
        (supported("operatorframework.io/arch.", "amd64"), supported("operatorframework.io/os.", "linux"));
    let promised: BTreeSet<String> =
        systems.iter().flat_map(|system| arches.iter().map(move |arch| format!("{system}/{arch}"))).collect();
    let list = |platforms: &BTreeSet<String>| platforms.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let mut seen = BTreeSet::new();
    for deployment in bundle.deployments() {
        let affinity = affinity(deployment);
        let span = place(deployment, &["name"]);
        let name = text(deployment, "name");
        if affinity.is_empty() {
            let message =
                format!("the Deployment `{name}` has no node affinity for its platforms: {}", list(&promised));
            findings
                .warning("multiarch-affinity", &span, message)
                .help("its Pods may be scheduled to nodes of other platforms");
        } else if affinity != promised {
            let message = format!(
                "the Deployment `{name}` is for the platforms {}, and the labels of the ClusterServiceVersion promise {}",
                list(&affinity),
                list(&promised)
            );
            findings.warning("multiarch-affinity", &span, message);
        }
        for container in deployment.items_at(&["spec", "template", "spec", "containers"]) {
            let image = text(container, "image");
            if !image.is_empty() && seen.insert(image.to_owned()) {
                not_inspected(image, container, &promised, findings);
            }
        }
    }
    for related in bundle.spec().items_at(&["relatedImages"]) {
        let image = text(related, "image");
        if !image.is_empty() && seen.insert(image.to_owned()) {
            not_inspected(image, related, &promised, findings);
        }
    }
}

fn not_inspected(image: &str, node: &Node, promised: &BTreeSet<String>, findings: &mut Findings) {
    let platforms = promised.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let message = format!("opctl does not inspect images: check that `{image}` is available for {platforms}");
    let span = if node.get("image").is_some() { place(node, &["image"]) } else { head(node) };
    findings
        .warning("multiarch-image", &span, message)
        .help(format!("`docker manifest inspect {image}` lists its platforms"));
}

/// The platforms, such as `linux/amd64`, of terms with both an OS and an architecture.
fn affinity(deployment: &Node) -> BTreeSet<String> {
    let path = [
        "spec",
        "template",
        "spec",
        "affinity",
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "nodeSelectorTerms",
    ];
    let mut platforms = BTreeSet::new();
    for term in deployment.items_at(&path) {
        let values = |key: &str| -> Vec<&str> {
            let fits = |expression: &&Node| text(expression, "operator") == "In" && text(expression, "key") == key;
            term.items_at(&["matchExpressions"])
                .iter()
                .rfind(fits)
                .map(|it| texts(it, "values").collect())
                .unwrap_or_default()
        };
        let arches = values("kubernetes.io/arch");
        for system in values("kubernetes.io/os") {
            platforms.extend(arches.iter().map(|arch| format!("{system}/{arch}")));
        }
    }
    platforms
}
