//! Parses CRDs from the output of a program: YAML documents, consecutive JSON values, and lists of either.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};

use super::Failure;
use crate::diagnostics::OP044;
use opctl_model::yaml;

const API: &str = "apiextensions.k8s.io/v1";
/// The API version of CRDs from old releases of kube, with `#[kube(apiextensions = "v1beta1")]`.
const BETA: &str = "apiextensions.k8s.io/v1beta1";

/// The CRDs in the output of `program`, whose name is used in errors.
pub fn read(text: &str, program: &str) -> Result<Vec<CustomResourceDefinition>, Box<Failure>> {
    let refuse = |message: String| {
        let help = format!("it must print only CRDs to stdout: see `cargo run --bin {program}`");
        Box::new(Failure::from(OP044.error(message).help(help)))
    };
    let values =
        yaml::objects(text).map_err(|reason| refuse(format!("what `{program}` prints is not YAML: {reason}")))?;
    if values.is_empty() {
        return Err(refuse(format!("`{program}` prints nothing")));
    }
    values
        .into_iter()
        .map(|value| definition(value).map_err(|what| refuse(format!("`{program}` prints {what}, which is not a CRD"))))
        .collect()
}

/// Converts a value to a CRD, or returns a description of the value if it is not a CRD.
pub fn definition(mut value: Value) -> Result<CustomResourceDefinition, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (version, kind) = (text(&value["apiVersion"]), text(&value["kind"]));
    let name = text(&value["metadata"]["name"]);
    match (version.as_str(), kind.as_str()) {
        (API, "CustomResourceDefinition") => {}
        (BETA, "CustomResourceDefinition") => convert_beta(&mut value),
        (_, "") => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            return Err(format!("`{}`", beginning(&text)));
        }
        _ => return Err(format!("a {kind} of `{version}`")),
    }
    let crd: CustomResourceDefinition =
        serde_json::from_value(value.clone()).map_err(|error| format!("`{name}` ({error})"))?;
    let read = serde_json::to_value(&crd).expect("a CRD is JSON");
    match lost(&value, &read) {
        Some(path) => Err(format!("`{name}` with the unknown field `{}`", path.trim_start_matches('.'))),
        None => Ok(crd),
    }
}

/// Converts a CRD of v1beta1, which Kubernetes 1.22 removed. Fields that applied to all versions are copied to each
/// version.
fn convert_beta(crd: &mut Value) {
    crd["apiVersion"] = API.into();
    let Some(spec) = crd["spec"].as_object_mut() else { return };
    let name = spec.remove("version");
    // The default of `preserveUnknownFields` was true. Structural schemas, which v1 requires, list all fields.
    spec.remove("preserveUnknownFields");
    let shared = ["validation", "subresources", "additionalPrinterColumns"];
    let shared = shared.map(|key| (if key == "validation" { "schema" } else { key }, spec.remove(key)));
    let versions = spec.entry("versions").or_insert_with(|| Value::Array(Vec::new()));
    let Some(versions) = versions.as_array_mut() else { return };
    if let Some(name) = name.filter(|_| versions.is_empty()) {
        versions.push(json!({ "name": name, "served": true, "storage": true }));
    }
    for version in versions.iter_mut().filter_map(Value::as_object_mut) {
        for (key, value) in &shared {
            if let Some(value) = value.as_ref().filter(|value| !value.is_null()) {
                version.entry(*key).or_insert_with(|| value.clone());
            }
        }
        let columns = version.get_mut("additionalPrinterColumns").and_then(Value::as_array_mut);
        for column in columns.into_iter().flatten().filter_map(Value::as_object_mut) {
            if let Some(path) = column.remove("JSONPath") {
                column.insert("jsonPath".into(), path);
            }
        }
    }
}

/// The beginning of a text, for a message.
pub fn beginning(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

/// The path of the first field of `printed` that is not in `read`, because the Rust type of Kubernetes does not have
/// it.
fn lost(printed: &Value, read: &Value) -> Option<String> {
    match (printed, read) {
        (Value::Object(printed), Value::Object(read)) => {
            printed.iter().filter(|(_, value)| !value.is_null()).find_map(|(key, value)| match read.get(key) {
                Some(read) => lost(value, read).map(|path| format!(".{key}{path}")),
                None => Some(format!(".{key}")),
            })
        }
        (Value::Array(printed), Value::Array(read)) => {
            let mut pairs = printed.iter().zip(read).enumerate();
            pairs.find_map(|(index, (printed, read))| lost(printed, read).map(|path| format!("[{index}]{path}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.b.c}\n\
        spec: {group: b.c, names: {kind: A, plural: as}, scope: Cluster, versions: [{name: v1, served: true, storage: true}]}\n";

    fn json() -> String {
        let value: Value = yaml::read(CRD).unwrap();
        value.to_string()
    }

    fn refusal(text: &str) -> String {
        read(text, "crdgen").unwrap_err().diagnostic.message
    }

    #[test]
    fn reads_every_form_that_programs_print() {
        let json = json();
        for (text, count) in [
            (CRD.to_owned(), 1),
            (format!("---\n{CRD}---\n{CRD}---\n"), 2),
            (json.clone(), 1),
            (format!("{json}\n{json}{json}"), 3),
            (format!("[{json}, {json}]"), 2),
            (format!("---\n{json}\n---\n{json}\n"), 2),
            (format!("{{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [{json}]}}"), 1),
        ] {
            assert_eq!(read(&text, "crdgen").unwrap().len(), count, "{text}");
        }
    }

    #[test]
    fn converts_v1beta1() {
        let beta = json!({"apiVersion": BETA, "kind": "CustomResourceDefinition", "metadata": {"name": "as.b.c"}, "spec": {
            "group": "b.c", "names": {"kind": "A", "plural": "as"}, "scope": "Cluster", "version": "v1", "preserveUnknownFields": false,
            "versions": [{"name": "v1", "served": true, "storage": true}],
            "validation": {"openAPIV3Schema": {"type": "object"}}, "subresources": {"status": {}},
            "additionalPrinterColumns": [{"name": "Size", "type": "integer", "JSONPath": ".spec.size"}],
        }});
        let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}},
            "subresources": {"status": {}},
            "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]});
        let crd = definition(beta).unwrap();
        assert_eq!(
            serde_json::to_value(&crd).unwrap()["spec"],
            json!({
                "group": "b.c", "names": {"kind": "A", "plural": "as"}, "scope": "Cluster", "versions": [version],
            })
        );
    }

    #[test]
    fn refuses_what_is_no_crd() {
        assert_eq!(refusal(" \n"), "`crdgen` prints nothing");
        assert_eq!(refusal("Hello!\n"), "`crdgen` prints `Hello!`, which is not a CRD");
        let role = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n";
        assert_eq!(refusal(&format!("{CRD}---\n{role}")), "`crdgen` prints a Secret of `v1`, which is not a CRD");
        assert!(refusal(&CRD.replace("scope:", "scopes:")).contains("the unknown field `spec.scopes`"));
        let unknown = CRD.replace("served: true", "served: true, sold: true");
        assert!(refusal(&unknown).contains("the unknown field `spec.versions[0].sold`"));
        assert!(refusal("a: [").starts_with("what `crdgen` prints is not YAML: "));
    }
}
