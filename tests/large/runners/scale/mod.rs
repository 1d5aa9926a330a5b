//! Metrics for scaling.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod window;
pub use window::Window;

/// A hundred sets of ten.
pub const LIMIT: u16 = 100 * 10;

pub fn ten() -> u16 {
    10
}

pub type Labels = BTreeSet<String>;

#[derive(Deserialize, Serialize, JsonSchema, Clone, Debug)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Metric {
    /// Jobs that wait.
    QueuedJobs {
        #[serde(default)]
        repositories: Vec<String>,
        scale_factor: Option<f32>,
    },
    /// The share of runners that are busy.
    Busy {
        #[schemars(range(min = 0.0, max = 1.0))]
        scale_up_threshold: f64,
        #[schemars(range(min = 0.0, max = 1.0))]
        scale_down_threshold: f64,
        scale_up_factor: Option<f64>,
    },
}
