//! Requests for the kinds of a Helm operator: each kind installs the same chart as before.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{OtherVersion, add_environment, at, other_versions, request, samples};
use crate::api::Request;
use crate::api::chart::{self, Imported};
use crate::error::{UserError, UserErrors};
use crate::scaffold;
use opctl_charts::operator_sdk::diagnostics::OP482;
use opctl_charts::operator_sdk::helm::{self, Part, Watch};
use opctl_charts::operator_sdk::{Existing, Project};
use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::{ProjectFile, Resource};

/// The chart of a watch.
pub struct Chart {
    pub path: PathBuf,
    /// The name of the chart's folder in `helm-charts`.
    pub folder: String,
    /// The spec of the first sample.
    pub values: Value,
    pub imported: Imported,
}

/// A request for each watch. `operator` renders a chart for the kind of a resource in a project.
///
/// # Errors
///
/// The errors of `operator`, except for those about the chart, which are added to `found`.
pub fn requests(
    source: &Project,
    watches: &[Watch],
    file: &ProjectFile,
    found: &mut Vec<Diagnostic>,
    operator: impl Fn(Chart, &mut Resource, &ProjectFile) -> anyhow::Result<chart::Operator>,
) -> anyhow::Result<Vec<Request>> {
    let mut file = file.clone();
    let mut requests = Vec::new();
    let mut charts: BTreeMap<String, PathBuf> = BTreeMap::new();
    for watch in watches {
        let gvk = &watch.gvk;
        let crd = source.crd(gvk, found);
        if let Some(crd) = crd.as_ref().filter(|crd| !crd.is_namespaced) {
            let message = format!("`{}` is cluster-scoped ({}), and a release needs a namespace", gvk.kind, crd.path);
            let help = "no object of it can have had a release: make it namespaced, or remove the watch";
            found.push(OP482.error(message).at(gvk.span.clone(), "").help(help));
            continue;
        }
        let existing = crd.as_ref().map(|crd| crd.existing.clone()).unwrap_or_default();
        let located = helm::chart(source, watch, &mut charts, found);
        let Some(mut request) = request(gvk, crd.as_ref(), &file, found) else { continue };
        if let Some((folder, path)) = located.filter(|_| !found.iter().any(Diagnostic::is_error)) {
            let chart = chart(source, watch, &request.resource, existing, (folder, path), found);
            match operator(chart, &mut request.resource, &file) {
                Ok(operator) => request.chart = Some(operator),
                Err(error) => {
                    let refusals = match error.downcast::<UserError>() {
                        Ok(refusal) => vec![refusal],
                        Err(error) => error.downcast::<UserErrors>()?.0,
                    };
                    found.extend(refusals.into_iter().map(|refusal| at(&watch.chart_span, refusal)));
                }
            }
        }
        file.resources.push(request.resource.clone());
        let operator = request.chart.clone();
        requests.push(request);
        let others = crd.iter().flat_map(|crd| other_versions(source, gvk, crd, &file, found)).collect::<Vec<_>>();
        for OtherVersion { mut request, existing, samples } in others {
            let version = |operator: &chart::Operator| operator.version(&mut request.resource, existing, samples);
            request.chart = operator.as_ref().map(version);
            file.resources.push(request.resource.clone());
            requests.push(request);
        }
    }
    let set = add_environment(source, &mut requests, found);
    helm::report_unset(watches, &set.iter().map(String::as_str).collect::<Vec<_>>(), found);
    Ok(requests)
}

fn chart(
    source: &Project,
    watch: &Watch,
    resource: &Resource,
    existing: Existing,
    (folder, path): (String, PathBuf),
    found: &mut Vec<Diagnostic>,
) -> Chart {
    // Hybrid projects use helm-operator-plugins.
    let (finalizer, set) = match source.names.as_ref().is_some_and(|names| names.is_hybrid()) {
        true => ("uninstall-helm-release", "set"),
        false => ("helm.sdk.operatorframework.io/uninstall-release", "set_string"),
    };
    let (samples, spec) = samples(source, &watch.gvk, resource, found);
    let overrides = watch.overrides.iter().map(|it| {
        let value = match &it.part {
            Some(Part { variable, separator, index }) => format!("&part_of({variable:?}, {separator:?}, {index})"),
            None => format!("{:?}", it.text),
        };
        (it.path.as_str(), value)
    });
    let adopted = scaffold::Adopted::new(finalizer, watch.period, watch.selector.clone(), set, overrides);
    let values = if spec.is_object() { spec } else { json!({}) };
    Chart { path, folder, values, imported: Imported { existing, adopted: Some(adopted), samples } }
}
