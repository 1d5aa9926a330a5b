use chrono::{DateTime, NaiveTime, Utc};
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use super::scale::{self, Metric, Window};

#[derive(CustomResource, KubeSchema, Deserialize, Serialize, Clone, Debug)]
#[kube(
    group = "ci.forge.dev",
    version = "v1beta2",
    kind = "RunnerAutoscaler",
    namespaced,
    status = "AutoscalerStatus",
    shortname = "ra"
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("self.minReplicas <= self.maxReplicas", "the minimum is above the maximum"))]
pub struct RunnerAutoscalerSpec {
    pub target: TargetRef,
    #[serde(default)]
    pub min_replicas: u16,
    #[serde(default = "scale::ten")]
    #[schemars(range(max = scale::LIMIT))]
    pub max_replicas: u16,
    #[schemars(length(min = 1))]
    pub metrics: Vec<Metric>,
    #[serde(default)]
    pub scale_down_delay_seconds: ScaleDownDelay,
    /// Times when other bounds hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<Override>,
}

#[derive(KubeSchema, Deserialize, Serialize, Clone, Debug)]
pub struct TargetRef {
    pub name: String,
    #[serde(default = "TargetRef::default_kind")]
    pub kind: String,
}

impl TargetRef {
    pub fn default_kind() -> String {
        "RunnerSet".to_string()
    }
}

#[derive(schemars::JsonSchema, Deserialize, Serialize, Clone, Copy, Debug)]
#[serde(transparent)]
pub struct ScaleDownDelay(#[schemars(range(min = 0, max = 86_400))] pub u32);

impl Default for ScaleDownDelay {
    fn default() -> Self {
        ScaleDownDelay(10 * 60)
    }
}

#[derive(schemars::JsonSchema, Deserialize, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Override {
    pub min_replicas: Option<u16>,
    pub max_replicas: Option<u16>,
    pub window: Window,
    pub from: Option<NaiveTime>,
    pub until: Option<NaiveTime>,
}

#[derive(schemars::JsonSchema, Deserialize, Serialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase")]
pub struct AutoscalerStatus {
    pub desired_replicas: Option<u16>,
    pub last_scale_up: Option<DateTime<Utc>>,
    pub last_scale_down: Option<DateTime<Utc>>,
}
