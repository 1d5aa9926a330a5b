//! Comparison of the CRDs in `config/crd` with those of the compiled types.

use std::collections::BTreeMap;
use std::path::Path;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

/// Checks that `config/crd/bases` of the project in this folder contains exactly these definitions.
///
/// Ignores what types do not define: the conversion, which follows from markers, and descriptions if PROJECT shortens
/// them.
///
/// # Panics
///
/// If they differ; the message names the definition.
pub fn assert_crds(project: &str, crds: &[CustomResourceDefinition]) {
    let project = Path::new(project);
    let keeps_descriptions = keeps_descriptions(project);
    let comparable = |mut crd: Value| {
        remove_conversion(&mut crd);
        if !keeps_descriptions {
            remove_descriptions(&mut crd);
        }
        crd
    };
    let mut committed = committed(&project.join("config/crd/bases"));
    for crd in crds {
        let name = crd.metadata.name.clone().expect("a CRD has a name");
        let compiled = serde_json::to_value(crd).expect("a CRD is JSON");
        let Some(file) = committed.remove(&name) else {
            panic!("config/crd/bases lacks `{name}`: run `opctl manifests`");
        };
        assert_eq!(
            comparable(file),
            comparable(compiled),
            "config/crd/bases has another `{name}`: run `opctl manifests`"
        );
    }
    let stale: Vec<_> = committed.into_keys().collect();
    assert!(stale.is_empty(), "config/crd/bases still has {stale:?}: run `opctl manifests`");
}

/// The definitions in a folder, by name. The folder does not exist before the first API.
fn committed(folder: &Path) -> BTreeMap<String, Value> {
    let Ok(entries) = folder.read_dir() else {
        return BTreeMap::new();
    };
    entries
        .map(|entry| {
            let path = entry.expect("the folder can be read").path();
            let crd: Value = super::read_yaml(&path);
            (crd["metadata"]["name"].as_str().unwrap_or_default().to_owned(), crd)
        })
        .collect()
}

fn keeps_descriptions(project: &Path) -> bool {
    let project: Value = super::read_yaml(&project.join("PROJECT"));
    let manifests = &project["manifests"];
    !manifests["maxDescription"].is_number() && manifests["foreignDescriptions"] != false
}

fn remove_conversion(crd: &mut Value) {
    if let Value::Object(spec) = &mut crd["spec"] {
        spec.remove("conversion");
    }
    if let Value::Object(metadata) = &mut crd["metadata"]
        && let Some(Value::Object(annotations)) = metadata.get_mut("annotations")
    {
        annotations.retain(|key, _| !key.starts_with("cert-manager.io/inject-ca-from"));
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}

fn remove_descriptions(value: &mut Value) {
    match value {
        Value::Object(map) => {
            // A field named `description` stays: its schema is not a string.
            map.retain(|key, value| key != "description" || !value.is_string());
            map.values_mut().for_each(remove_descriptions);
        }
        Value::Array(list) => list.iter_mut().for_each(remove_descriptions),
        _ => {}
    }
}
