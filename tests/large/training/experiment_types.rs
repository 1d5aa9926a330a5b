use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::job::{self, TrainingJobSpec};

/// Trials of one job with other hyperparameters.
#[derive(CustomResource, Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[kube(group = "learn.example.ai", version = "v1beta1", kind = "Experiment", namespaced, status = "ExperimentStatus")]
#[serde(rename_all = "camelCase")]
pub struct ExperimentSpec {
    pub objective: Objective,
    pub algorithm: Algorithm,
    pub parameters: Vec<ParameterSpec>,
    #[schemars(range(min = 1))]
    #[serde(default = "three")]
    pub parallel_trial_count: u8,
    pub max_trial_count: Option<u32>,
    #[serde(default)]
    pub resume_policy: ResumePolicy,
    /// The job, whose hyperparameters are those of the trial.
    pub template: TrainingJobSpec,
}

fn three() -> u8 {
    3
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Objective {
    #[serde(rename = "type")]
    pub direction: Direction,
    pub goal: Option<f64>,
    pub objective_metric_name: String,
    #[serde(default)]
    pub additional_metric_names: Vec<String>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Minimize,
    Maximize,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Algorithm {
    Random { settings: Option<std::collections::BTreeMap<String, String>> },
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ParameterSpec {
    pub name: String,
    #[serde(flatten)]
    pub space: Space,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    Double(Range<f64>),
    Int(Range<i64>),
    Categorical { list: Vec<String> },
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Range<N> {
    pub min: N,
    pub max: N,
    pub step: Option<N>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub enum ResumePolicy {
    Never,
    #[default]
    LongRunning,
    FromVolume,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExperimentStatus {
    #[serde(default)]
    pub trials: u32,
    pub current_optimal_trial: Option<OptimalTrial>,
    pub last: Option<job::JobStatus>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OptimalTrial {
    pub best_trial_name: String,
    #[serde(default)]
    pub parameter_assignments: Vec<Assignment>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Assignment {
    pub name: String,
    pub value: String,
}
