//! The spec of a kind with an existing CRD of another operator: its fields, columns and subresources are kept.

use serde_json::Value;

use super::chart::types_of;
use crate::scaffold;
use crate::scaffold::api_of_resource;
use opctl_charts::operator_sdk::{Existing, with_parameters};
use opctl_charts::spec::{self, Object, Words};
use opctl_model::names::Kind;
use opctl_model::project::Resource;
use opctl_model::yaml;

/// The spec, as data for the templates. Parameters that the CRD does not list accept any value. `sample` is for a spec
/// without fields in the CRD.
pub fn spec(kind: &Kind, mut existing: Existing, parameters: Object, sample: String, words: Words) -> scaffold::Spec {
    let crd = existing.spec.take();
    let has_crd = crd.is_some();
    let status = std::mem::take(&mut existing.status);
    let schema = match crd {
        Some(crd) => with_parameters(crd, parameters),
        None => parameters.opened(),
    };
    let sample = match has_crd {
        true => spec::sample(&Object::default(), &spec::required(&schema), words),
        false => sample,
    };
    let scale = existing.scale.as_ref().map(|scale| argument("scale", scale, &SCALE));
    scaffold::Spec {
        is_optional: existing.is_spec_optional,
        has_crd,
        version_arguments: version_arguments(&existing),
        columns: existing.columns.iter().map(|column| argument("printcolumn", column, &COLUMN)).chain(scale).collect(),
        ..types_of(kind, &schema, &status, sample, words)
    }
}

/// The spec and the samples of a version that is not watched. A served version without a sample gets one.
pub fn other_version(
    resource: &Resource,
    existing: Existing,
    mut samples: Vec<(String, String)>,
    words: Words,
) -> (scaffold::Spec, Vec<(String, String)>) {
    let spec = spec(&resource.kind, existing, Object::default(), " {}".into(), words);
    if resource.options.served != Some(false) && samples.is_empty() {
        samples.push(sample(resource, &spec));
    }
    (spec, samples)
}

/// The sample of a version that is not watched: its file name and text. The name differs from that of the watched
/// version, since a version is not part of an object's identity.
fn sample(resource: &Resource, spec: &scaffold::Spec) -> (String, String) {
    let Resource { kind, version, .. } = resource;
    let api_version = format!("{}/{version}", resource.full_group());
    let name = format!("{}-{version}", kind.singular());
    let text = format!(
        "apiVersion: {api_version}\nkind: {}\nmetadata:\n  name: {name}\nspec:{}\n",
        yaml::scalar(&kind.as_str().into()),
        spec.sample
    );
    (api_of_resource(resource).sample(), text)
}

fn version_arguments(existing: &Existing) -> Vec<String> {
    let Existing { is_unstored, is_unserved, deprecated, .. } = existing;
    let flags = [("storage = false", *is_unstored), ("served = false", *is_unserved)];
    let flags = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag.to_owned());
    let deprecated = match deprecated {
        // Nobody gets the warning of a version that is not served.
        Some(Some(warning)) if !is_unserved => Some(format!("deprecated = {warning:?}")),
        None if !is_unserved => None,
        _ => Some("deprecated".to_owned()),
    };
    let selectable = existing.selectable.iter().map(|path| format!("selectable = {path:?}"));
    flags.chain(deprecated).chain(selectable).collect()
}

/// Fields in a CRD, and their names in kube.
const COLUMN: [(&str, &str); 6] = [
    ("name", "name"),
    ("type", "type_"),
    ("jsonPath", "json_path"),
    ("description", "description"),
    ("format", "format"),
    ("priority", "priority"),
];
const SCALE: [(&str, &str); 3] = [
    ("specReplicasPath", "spec_replicas_path"),
    ("statusReplicasPath", "status_replicas_path"),
    ("labelSelectorPath", "label_selector_path"),
];

/// Renders `printcolumn(name = "Ready", …)` with rustfmt's line breaks.
fn argument(name: &str, values: &Value, names: &[(&str, &str)]) -> String {
    let values = names.iter().filter_map(|(key, name)| {
        let value = match values.get(*key)? {
            Value::String(text) if text.contains('"') => format!("r#\"{text}\"#"),
            Value::String(text) => format!("{text:?}"),
            other => other.to_string(),
        };
        Some(format!("{name} = {value}"))
    });
    format!("    {}", spec::meta_list(name, &values.collect::<Vec<_>>()))
}
