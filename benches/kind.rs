// `KIND` is replaced. The types that benchmarks derive CRDs of: doc comments, limits, an enum, a nested list, a map, optional fields,
// defaults, conditions. `GO` in `run` is the same for controller-gen.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state of a KIND.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "bench.example.com",
    version = "v1",
    kind = "KIND",
    namespaced,
    status = "KINDStatus",
    printcolumn(name = "Size", type_ = "integer", json_path = ".spec.size")
)]
#[serde(rename_all = "camelCase")]
pub struct KINDSpec {
    /// The controller leaves everything as it is for as long as this is true.
    #[serde(default)]
    pub suspend: bool,
    /// How many servers run.
    #[schemars(range(min = 1, max = 5))]
    pub size: i32,
    /// The image of the servers.
    #[schemars(length(min = 1, max = 255))]
    pub image: String,
    /// Which requests are logged.
    pub logging: KINDLogging,
    /// Where the servers listen.
    #[schemars(length(max = 8))]
    pub ports: Vec<KINDPort>,
    /// More labels for the Pods.
    pub labels: Option<BTreeMap<String, String>>,
    /// How much memory a server may use, in megabytes.
    pub memory: Option<i64>,
    /// Arguments of the servers.
    pub arguments: Option<Vec<String>>,
}

/// Which requests are logged.
#[derive(JsonSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub enum KINDLogging {
    #[default]
    None,
    Errors,
    All,
}

/// A place where servers listen.
#[derive(KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KINDPort {
    /// Its name in the Service.
    #[schemars(regex(pattern = "^[a-z]([a-z0-9-]*[a-z0-9])?$"))]
    pub name: String,
    /// Its number.
    #[schemars(range(min = 1, max = 65535))]
    pub number: i32,
}

/// The observed state of a KIND.
#[derive(KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KINDStatus {
    /// The generation of the object that this status is about.
    pub observed_generation: Option<i64>,
    /// The state in Kubernetes' common form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
