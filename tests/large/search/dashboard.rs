use k8s_openapi::api::core::v1::PodTemplateSpec;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common;

/// The frontend.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "search.example.cloud", version = "v1", kind = "Dashboard", namespaced, status = "DashboardStatus")]
#[kube(scale(spec_replicas_path = ".spec.count", status_replicas_path = ".status.count", label_selector_path = ".status.selector"))]
#[serde(rename_all = "camelCase")]
pub struct DashboardSpec {
    pub version: String,
    #[serde(default = "i32::default")]
    pub count: i32,
    #[serde(rename = "searchRef", default)]
    pub search: Reference,
    #[serde(default)]
    pub config: common::Config,
    #[serde(default)]
    pub http: common::HttpConfig,
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub pod_template: Option<PodTemplateSpec>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reference {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub service_name: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DashboardStatus {
    pub count: i32,
    pub selector: String,
    pub health: common::Health,
    pub version: Option<String>,
}
