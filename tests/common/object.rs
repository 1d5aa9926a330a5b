//! Objects of a kind with one version.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use opctl_schema::apiserver::{self, ObjectFinding};
use serde_json::{Value, json};

pub fn crd(kind: &str, schema: &Value) -> Value {
    let lower = kind.to_lowercase();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{lower}s.objects.example.com")},
        "spec": {
            "group": "objects.example.com",
            "names": {"plural": format!("{lower}s"), "singular": lower, "kind": kind, "listKind": format!("{kind}List")},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

pub fn findings(crd: &Value, object: &Value) -> Vec<ObjectFinding> {
    let crd: CustomResourceDefinition = serde_json::from_value(crd.clone()).unwrap();
    apiserver::check_object(&crd, object)
}
