//! CRDs of OLM with the fields that opctl uses and a few more: with strict validation, an API server rejects all
//! others. `OPCTL_OLM_CRDS=DIR` uses those of a release instead.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::control_plane::ControlPlane;

/// Expands an abbreviated schema: `{"a": "text", "b": ["number"], "c": {…}}`. A `*` before a name marks a required
/// field.
fn schema(short: &Value) -> Value {
    match short {
        Value::String(kind) => match kind.as_str() {
            "text" => json!({"type": "string"}),
            "number" => json!({"type": "integer"}),
            "flag" => json!({"type": "boolean"}),
            "map" => json!({"type": "object", "additionalProperties": {"type": "string"}}),
            "any" => json!({"x-kubernetes-preserve-unknown-fields": true}),
            other => panic!("there is no type {other}"),
        },
        Value::Array(items) => json!({"type": "array", "items": schema(&items[0])}),
        Value::Object(fields) => {
            let name = |name: &String| name.trim_start_matches('*').to_owned();
            let properties: serde_json::Map<_, _> =
                fields.iter().map(|(field, short)| (name(field), schema(short))).collect();
            let required: Vec<String> = fields.keys().filter(|field| field.starts_with('*')).map(name).collect();
            let mut schema = json!({"type": "object", "properties": properties});
            if !required.is_empty() {
                schema["required"] = required.into();
            }
            schema
        }
        other => panic!("{other} is no type"),
    }
}

fn crd(group: &str, version: &str, kind: &str, plural: &str, scope: &str, spec: &Value, status: &Value) -> Value {
    let mut root = schema(&json!({"*spec": spec, "status": status}));
    for field in ["apiVersion", "kind"] {
        root["properties"][field] = json!({"type": "string"});
    }
    root["properties"]["metadata"] = json!({"type": "object"});
    let names =
        json!({"kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List")});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": scope, "names": names, "versions": [{
            "name": version, "served": true, "storage": true, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": root}}]},
    })
}

const V0: &str = "operators.coreos.com";
const V1: &str = "olm.operatorframework.io";

/// The CRDs of OLM v0.
pub fn v0() -> Vec<Value> {
    let condition = json!({"*type": "text", "*status": "text", "reason": "text", "message": "text",
        "lastTransitionTime": "text", "lastUpdateTime": "text", "lastHeartbeatTime": "text"});
    let reference = json!({"apiVersion": "text", "kind": "text", "name": "text", "namespace": "text", "uid": "text"});
    let rules = json!([{"apiGroups": ["text"], "resources": ["text"], "verbs": ["text"], "resourceNames": ["text"],
        "nonResourceURLs": ["text"]}]);
    let permissions = json!([{"*serviceAccountName": "text", "*rules": rules}]);
    let descriptors = json!([{"*path": "text", "displayName": "text", "description": "text", "x-descriptors": ["text"],
        "value": "any"}]);
    let crds = json!([{"*name": "text", "*version": "text", "*kind": "text", "displayName": "text", "description": "text",
        "resources": [{"*name": "text", "*kind": "text", "*version": "text"}], "specDescriptors": descriptors,
        "statusDescriptors": descriptors, "actionDescriptors": descriptors}]);
    let csv = json!({
        "*displayName": "text", "description": "text", "version": "text", "replaces": "text", "skips": ["text"],
        "maturity": "text", "minKubeVersion": "text", "keywords": ["text"], "labels": "map", "annotations": "map",
        "maintainers": [{"name": "text", "email": "text"}], "provider": {"name": "text", "url": "text"},
        "links": [{"name": "text", "url": "text"}], "icon": [{"*base64data": "text", "*mediatype": "text"}],
        "installModes": [{"*type": "text", "*supported": "flag"}], "relatedImages": [{"*name": "text", "*image": "text"}],
        "customresourcedefinitions": {"owned": crds, "required": crds}, "apiservicedefinitions": {},
        "*install": {"*strategy": "text", "spec": {"*deployments": [{"*name": "text", "label": "map", "*spec": "any"}],
            "permissions": permissions, "clusterPermissions": permissions}},
        "webhookdefinitions": [{"*type": "text", "*generateName": "text", "*sideEffects": "text",
            "*admissionReviewVersions": ["text"], "deploymentName": "text", "containerPort": "number", "targetPort": "any",
            "webhookPath": "text", "failurePolicy": "text", "matchPolicy": "text", "reinvocationPolicy": "text",
            "timeoutSeconds": "number", "objectSelector": "any", "rules": "any", "conversionCRDs": ["text"]}],
    });
    let namespaced = |version: &str, kind: &str, plural: &str, spec: Value, status: Value| {
        crd(V0, version, kind, plural, "Namespaced", &spec, &status)
    };
    vec![
        namespaced(
            "v1alpha1",
            "CatalogSource",
            "catalogsources",
            json!({"*sourceType": "text", "address": "text", "image": "text", "displayName": "text", "publisher": "text",
                "secrets": ["text"]}),
            json!({"connectionState": {"address": "text", "*lastObservedState": "text"}}),
        ),
        namespaced(
            "v1",
            "OperatorGroup",
            "operatorgroups",
            json!({"targetNamespaces": ["text"]}),
            json!({"namespaces": ["text"]}),
        ),
        namespaced(
            "v1alpha1",
            "Subscription",
            "subscriptions",
            json!({"*name": "text", "*source": "text", "*sourceNamespace": "text", "channel": "text", "startingCSV": "text",
                "installPlanApproval": "text"}),
            json!({"*lastUpdated": "text", "state": "text", "currentCSV": "text", "installedCSV": "text",
                "installPlanRef": reference, "conditions": [condition]}),
        ),
        namespaced(
            "v1alpha1",
            "InstallPlan",
            "installplans",
            json!({"*approval": "text", "*approved": "flag", "*clusterServiceVersionNames": ["text"]}),
            json!({"*phase": "text", "*catalogSources": ["text"], "message": "text", "conditions": [condition]}),
        ),
        namespaced(
            "v1alpha1",
            "ClusterServiceVersion",
            "clusterserviceversions",
            csv,
            json!({"phase": "text", "reason": "text", "message": "text", "requirementStatus": [{"*group": "text",
                "*version": "text", "*kind": "text", "*name": "text", "*status": "text", "*message": "text"}]}),
        ),
    ]
}

/// The CRDs of OLM v1.
pub fn v1() -> Vec<Value> {
    let condition = json!({"*type": "text", "*status": "text", "*reason": "text", "*message": "text",
        "*lastTransitionTime": "text", "observedGeneration": "number"});
    vec![
        crd(
            V1,
            "v1",
            "ClusterCatalog",
            "clustercatalogs",
            "Cluster",
            &json!({"*source": {"*type": "text", "image": {"*ref": "text", "pollIntervalMinutes": "number"}}}),
            &json!({"conditions": [condition]}),
        ),
        crd(
            V1,
            "v1",
            "ClusterExtension",
            "clusterextensions",
            "Cluster",
            &json!({"*namespace": "text", "*serviceAccount": {"*name": "text"},
                "*source": {"*sourceType": "text", "catalog": {"*packageName": "text", "version": "text", "channels": ["text"],
                    "selector": {"matchLabels": "map"}}},
                "config": {"*configType": "text", "inline": "any"}}),
            &json!({"conditions": [condition], "install": {"*bundle": {"*name": "text", "*version": "text"}}}),
        ),
    ]
}

/// Creates these CRDs, or those of a release.
pub fn create(cluster: &ControlPlane, crds: &[Value]) {
    let names: Vec<&str> = crds.iter().map(|crd| crd["metadata"]["name"].as_str().unwrap()).collect();
    let own: Vec<String> = crds.iter().map(Value::to_string).collect();
    let texts = match std::env::var_os("OPCTL_OLM_CRDS").map(PathBuf::from) {
        Some(folder) => {
            let files =
                std::fs::read_dir(folder).unwrap().map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
            files.filter(|text| names.iter().any(|name| text.contains(&format!("name: {name}\n")))).collect()
        }
        None => own,
    };
    assert_eq!(texts.len(), crds.len());
    cluster.kubectl(&["apply", "--server-side", "-f", "-"], &texts.join("\n---\n"));
    for name in names {
        cluster.kubectl(&["wait", "--for=condition=Established", "crd", name], "");
    }
}
