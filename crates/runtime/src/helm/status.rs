//! The status of an object that has a release.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The status of a kind that a [`ChartController`](super::ChartController) reconciles. It has no manifests and no
/// values: whoever may read an object may not read the Secrets of its release.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseStatus {
    /// The generation of the object that the controller observed last.
    pub observed_generation: Option<i64>,
    /// `Ready` sums up the others: `Deployed`, `Reconciling` and `Stalled`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// The last release.
    pub release: Option<ReleaseInfo>,
}

/// A release, as helm has recorded it last.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseInfo {
    /// Its name, in the namespace of the object.
    pub name: String,
    /// The number of the last upgrade, of the install 1.
    pub revision: i64,
    /// The name of the chart.
    pub chart: Option<String>,
    /// The version of the chart.
    pub chart_version: Option<String>,
    /// The version of what the chart installs.
    pub app_version: Option<String>,
    /// The status that helm gives it, such as `deployed`.
    pub status: String,
    /// A digest of the chart and the values.
    pub inputs: Option<String>,
    /// The time of the last deployment.
    pub last_deployed: Option<String>,
}
