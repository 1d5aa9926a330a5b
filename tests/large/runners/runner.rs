use k8s_openapi::api::core::v1::{LocalObjectReference, PodTemplateSpec, SecretKeySelector};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use super::scale::Labels;

/// A set of runners that register with one forge, for one repository, organisation or enterprise.
#[derive(CustomResource, KubeSchema, Deserialize, Serialize, Clone, Debug)]
#[kube(
    group = "ci.forge.dev",
    version = "v1beta2",
    kind = "RunnerSet",
    namespaced,
    status = "RunnerSetStatus",
    shortname = "rs",
    scale(
        spec_replicas_path = ".spec.replicas",
        status_replicas_path = ".status.replicas",
        label_selector_path = ".status.selector"
    ),
    printcolumn(name = "Desired", type_ = "integer", json_path = ".spec.replicas"),
    printcolumn(name = "Idle", type_ = "integer", json_path = ".status.idle", description = "runners without a job"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    validation = ("self.metadata.name.size() <= 40", "the name becomes part of those of the runners"),
    validation = Rule::new("!has(self.status) || self.status.replicas >= 0").reason(Reason::FieldValueInvalid)
)]
#[x_kube(validation = ("has(self.repository) != has(self.organization)", "say either a repository or an organization"))]
#[serde(rename_all = "camelCase")]
pub struct RunnerSetSpec {
    /// `owner/name`
    #[x_kube(validation = Rule::new("self == oldSelf").message("a runner set cannot move").reason(Reason::FieldValueForbidden))]
    #[schemars(regex(pattern = r"^[^/\s]+/[^/\s]+$"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// Number of runners, unless a RunnerAutoscaler sets it.
    #[serde(default = "default_replicas")]
    #[schemars(range(min = 0, max = 500))]
    pub replicas: i32,
    /// Jobs ask for runners by these.
    #[x_kube(merge_strategy = ListMerge::Set)]
    #[serde(default)]
    pub labels: Labels,
    pub credentials: Credentials,
    /// Ends after one job, and a new one takes its place.
    #[serde(default = "yes")]
    pub ephemeral: bool,
    pub work_volume: Option<WorkVolume>,
    #[serde(default)]
    pub container_mode: ContainerMode,
    /// The Pod of each runner; its first container is the runner.
    #[x_kube(validation = ("!has(self.spec) || self.spec.restartPolicy != 'Always'", "a runner that ends is not restarted"))]
    pub template: Option<PodTemplateSpec>,
}

fn default_replicas() -> i32 {
    1
}

fn yes() -> bool {
    true
}

/// Credentials of a runner.
#[derive(KubeSchema, Deserialize, Serialize, Clone, Debug)]
#[x_kube(validation = Rule::new("has(self.app) || has(self.token)").message(Message::Expression("'no credentials for ' + string(1)".to_string())))]
#[serde(rename_all = "camelCase")]
pub struct Credentials {
    pub app: Option<App>,
    pub token: Option<SecretKeySelector>,
    /// A certificate authority for a forge of one's own.
    #[serde(default)]
    pub certificate_authority: Option<LocalObjectReference>,
}

#[derive(KubeSchema, Deserialize, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct App {
    #[schemars(range(min = 1))]
    pub app_id: i64,
    #[schemars(range(min = 1))]
    pub installation_id: i64,
    pub private_key: SecretKeySelector,
}

#[derive(KubeSchema, Deserialize, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct WorkVolume {
    #[schemars(length(min = 1))]
    pub storage_class_name: String,
    #[x_kube(validation = "quantity(self).isGreaterThan(quantity('1Gi'))")]
    pub size: String,
    #[x_kube(merge_strategy = MapMerge::Atomic)]
    #[serde(default)]
    pub annotations: std::collections::BTreeMap<String, String>,
}

/// Environment of a job's containers.
#[derive(schemars::JsonSchema, Deserialize, Serialize, Clone, Copy, Debug, Default)]
#[serde(rename_all = "kebab-case")]
pub enum ContainerMode {
    /// A job cannot have containers.
    #[default]
    None,
    /// Docker beside the runner.
    DockerInDocker,
    /// Pods beside the runner's.
    Kubernetes,
}

#[derive(KubeSchema, Deserialize, Serialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase")]
pub struct RunnerSetStatus {
    #[serde(default)]
    pub replicas: i32,
    #[serde(default)]
    pub idle: i32,
    #[serde(default)]
    pub busy: i32,
    pub selector: Option<String>,
    pub observed_generation: Option<i64>,
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

impl RunnerSetStatus {
    /// Number of runners without a job.
    pub fn free(&self) -> i32 {
        (self.replicas - self.busy).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_is_never_negative() {
        assert_eq!(RunnerSetStatus { busy: 3, ..Default::default() }.free(), 0);
    }
}
