use kube::core::Duration;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsDurationOfKube")]
pub struct Spec {
    #[serde(default = "from")]
    pub from: Duration,
    #[serde(default = "into")]
    pub into: Duration,
    #[serde(default = "parsed")]
    pub parsed: Option<Duration>,
}

fn from() -> Duration {
    Duration::from(std::time::Duration::from_secs(90))
}

fn into() -> Duration {
    std::time::Duration::from_millis(1500).into()
}

fn parsed() -> Option<Duration> {
    Some("1h30m".parse().unwrap())
}
