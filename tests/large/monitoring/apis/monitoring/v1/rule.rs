use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Duration;

#[derive(CustomResource, Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[kube(group = "monitoring.rust.example", version = "v1", kind = "PrometheusRule", namespaced, shortname = "promrule")]
pub struct PrometheusRuleSpec {
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"], "x-kubernetes-list-type" = "map"))]
    pub groups: Vec<RuleGroup>,
}

/// RuleGroup is a list of sequentially evaluated recording and alerting rules.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct RuleGroup {
    #[schemars(length(min = 1))]
    pub name: String,
    pub interval: Option<Duration>,
    #[serde(default)]
    pub rules: Vec<Rule>,
    pub limit: Option<i32>,
    #[serde(rename = "partial_response_strategy")]
    pub partial_response: Option<PartialResponse>,
}

/// One of `record` and `alert` is there.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct Rule {
    pub record: Option<String>,
    pub alert: Option<String>,
    /// PromQL; a number is one, too.
    pub expr: IntOrString,
    pub r#for: Option<Duration>,
    pub keep_firing_for: Option<Duration>,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    pub severity: Option<Severity>,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartialResponse {
    Warn,
    Abort,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Warning,
    Critical,
}
