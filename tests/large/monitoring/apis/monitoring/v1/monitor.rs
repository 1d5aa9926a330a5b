use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::endpoint::Endpoint;

/// The `ServiceMonitor` custom resource definition (CRD) defines how `Prometheus` can scrape metrics from a group of services.
#[derive(CustomResource, Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "monitoring.rust.example",
    version = "v1",
    kind = "ServiceMonitor",
    namespaced,
    shortname = "smon",
    category = "prometheus-operator"
)]
#[serde(rename_all = "camelCase")]
pub struct ServiceMonitorSpec {
    pub job_label: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_labels: Vec<String>,
    pub endpoints: Vec<Endpoint>,
    pub selector: LabelSelector,
    #[serde(default)]
    pub namespace_selector: NamespaceSelector,
    #[serde(flatten)]
    pub limits: Limits,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamespaceSelector {
    #[serde(default)]
    pub any: bool,
    #[serde(default)]
    pub match_names: Vec<String>,
}

/// Scrapes with more fail.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    pub sample_limit: Option<u64>,
    pub target_limit: Option<u64>,
    pub label_limit: Option<u64>,
    pub label_name_length_limit: Option<u64>,
    #[deprecated(since = "0.3.0", note = "use `label_limit`")]
    pub labels: Option<u64>,
}
