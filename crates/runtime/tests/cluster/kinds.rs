//! The custom resources of the tests.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, CustomResourceExt, KubeSchema};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The schema of `size` has no maximum, so the API server accepts numbers that do not decode.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(group = "runtime.example.com", version = "v1", kind = "Web", namespaced, status = "WebStatus")]
pub struct WebSpec {
    pub size: Option<u32>,
    /// Names of ConfigMaps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<String>,
    #[serde(default)]
    #[schemars(schema_with = "anything")]
    pub any: Option<Value>,
}

#[derive(KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebStatus {
    pub observed_generation: Option<i64>,
    pub replicas: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// A kind that a Web owns or watches.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(group = "runtime.example.com", version = "v1", kind = "Part", namespaced)]
pub struct PartSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A cluster-scoped kind.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(group = "runtime.example.com", version = "v1", kind = "Site", status = "WebStatus")]
pub struct SiteSpec {
    /// Namespaces that get a ConfigMap each.
    pub namespaces: Vec<String>,
}

/// A kind whose status has no `observedGeneration`.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(group = "runtime.example.com", version = "v1", kind = "Bare", namespaced, status = "BareStatus")]
pub struct BareSpec {
    pub size: Option<u32>,
}

#[derive(KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct BareStatus {
    #[serde(default)]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

pub fn crds() -> Vec<CustomResourceDefinition> {
    vec![Web::crd(), Part::crd(), Site::crd(), Bare::crd()]
}

fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}
