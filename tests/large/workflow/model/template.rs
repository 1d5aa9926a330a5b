use k8s_openapi::api::core::v1::{Container, EnvVar};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::{Arguments, Deserialize, JsonSchema, Metadata, Serialize};

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Template {
    pub name: String,
    #[serde(default)]
    pub inputs: Arguments,
    #[serde(default)]
    pub outputs: Arguments,
    pub metadata: Option<Metadata>,
    #[serde(flatten)]
    pub action: Option<Action>,
    #[serde(rename = "retryStrategy")]
    pub retry: Option<Retry>,
    pub active_deadline_seconds: Option<IntOrString>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    Container(Container),
    Script {
        image: String,
        source: String,
        #[serde(default)]
        command: Vec<String>,
        #[serde(default)]
        env: Vec<EnvVar>,
    },
    Dag(Dag),
    Steps(Vec<Vec<Step>>),
    Suspend { duration: Option<String> },
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dag {
    pub target: Option<String>,
    #[schemars(length(min = 1))]
    pub tasks: Vec<Task>,
    pub fail_fast: Option<bool>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
pub struct Task {
    #[serde(flatten)]
    pub step: Step,
    #[serde(default)]
    pub dependencies: Vec<String>,
    pub depends: Option<String>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    pub name: String,
    pub template: Option<String>,
    pub template_ref: Option<TemplateRef>,
    #[serde(default)]
    pub arguments: Arguments,
    pub when: Option<String>,
    pub with_items: Option<Vec<String>>,
    pub continue_on: Option<ContinueOn>,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateRef {
    pub name: String,
    pub template: Option<String>,
    #[serde(default)]
    pub cluster_scope: bool,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
#[serde(default)]
pub struct ContinueOn {
    pub error: bool,
    pub failed: bool,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    pub limit: Option<IntOrString>,
    #[serde(default)]
    pub retry_policy: RetryPolicy,
    pub backoff: Option<Backoff>,
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, JsonSchema)]
pub enum RetryPolicy {
    Always,
    #[default]
    OnFailure,
    OnError,
    OnTransientError,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Backoff {
    pub duration: Option<String>,
    pub factor: Option<IntOrString>,
    pub max_duration: Option<String>,
}
