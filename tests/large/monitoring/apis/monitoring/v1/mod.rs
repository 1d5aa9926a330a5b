mod endpoint;
mod monitor;
mod rule;
mod server;

pub use endpoint::{Endpoint, RelabelConfig, SafeTls};
pub use monitor::*;
pub use rule::{PrometheusRule, PrometheusRuleSpec, Severity};
pub use server::*;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A duration as Prometheus writes it: `1d2h30m`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "How long, such as `30s`")]
pub struct Duration(
    #[schemars(regex(pattern = "^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$"))]
    pub String,
);

impl Duration {
    pub fn half_a_minute() -> Self {
        Self("30s".into())
    }
}
