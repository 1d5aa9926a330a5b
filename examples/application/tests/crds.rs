// Copyright The opctl Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

//! `config/crd/bases` holds what the compiled types give: no more, no less, no other.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use application::api;

#[test]
fn config_crd_equals_the_compiled_types() {
    let mut committed = committed();
    for crd in api::crds() {
        let name = crd.metadata.name.clone().expect("a CRD has a name");
        let compiled = serde_json::to_value(crd).expect("a CRD is JSON");
        let Some(file) = committed.remove(&name) else {
            panic!("config/crd/bases lacks `{name}`: run `opctl manifests`");
        };
        assert_eq!(
            as_project_describes(file),
            as_project_describes(compiled),
            "config/crd/bases has another `{name}`: run `opctl manifests`"
        );
    }
    let stale: Vec<_> = committed.into_keys().collect();
    assert!(
        stale.is_empty(),
        "config/crd/bases still has {stale:?}: run `opctl manifests`"
    );
}

/// The CRDs in `config/crd/bases`, by name.
fn committed() -> BTreeMap<String, Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/crd/bases");
    let Ok(entries) = folder.read_dir() else {
        return BTreeMap::new(); // There is no such folder before the first API.
    };
    entries
        .map(|entry| {
            let path = entry.expect("the folder can be read").path();
            let text = std::fs::read_to_string(&path).expect("the file can be read");
            let crd: Value = yaml_serde::from_str(&text)
                .unwrap_or_else(|error| panic!("{} is not YAML: {error}", path.display()));
            let name = crd["metadata"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            (name, crd)
        })
        .collect()
}

/// Without what markers say of conversions, which types do not know; without descriptions, if PROJECT has opctl shorten
/// them or leave some out.
fn as_project_describes(mut crd: Value) -> Value {
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
    let project: Value = yaml_serde::from_str(include_str!("../PROJECT")).expect("PROJECT is YAML");
    let manifests = &project["manifests"];
    if manifests["maxDescription"].is_number() || manifests["foreignDescriptions"] == false {
        remove_descriptions(&mut crd);
    }
    crd
}

fn remove_descriptions(value: &mut Value) {
    match value {
        Value::Object(map) => {
            // A field that is called `description` stays: its schema is not a string.
            map.retain(|key, value| key != "description" || !value.is_string());
            map.values_mut().for_each(remove_descriptions);
        }
        Value::Array(list) => list.iter_mut().for_each(remove_descriptions),
        _ => {}
    }
}
