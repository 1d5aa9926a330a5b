use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, PodTemplateSpec};
use k8s_openapi::api::policy::v1::PodDisruptionBudgetSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{self, *};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "search.example.cloud",
    version = "v1",
    kind = "Search",
    plural = "searches",
    namespaced,
    status = "SearchStatus",
    shortname = "se",
    category = "elastic",
    printcolumn(name = "health", type_ = "string", json_path = ".status.health"),
    printcolumn(name = "nodes", type_ = "integer", json_path = ".status.availableNodes", description = "Available nodes")
)]
#[serde(rename_all = "camelCase")]
pub struct SearchSpec {
    #[x_kube(validation = Rule::new("self.matches('^[0-9]+\\\\.[0-9]+\\\\.[0-9]+')").message("not a version"))]
    pub version: String,
    pub image: Option<String>,
    #[serde(default)]
    pub remote_cluster_server: RemoteClusterServer,
    #[serde(default)]
    pub http: HttpConfig,
    #[schemars(length(min = 1))]
    #[x_kube(
        merge_strategy = ListMerge::Map(vec!["name".into()]),
        validation = ("self.exists(n, n.count > 0)", "no nodes at all")
    )]
    pub node_sets: Vec<NodeSet>,
    #[serde(default)]
    pub update_strategy: UpdateStrategy,
    #[schemars(with = "Option<BudgetTemplate>")]
    pub pod_disruption_budget: Option<Budget>,
    #[serde(default)]
    pub auth: Auth,
    #[serde(default)]
    pub secure_settings: Vec<common::SecretSource>,
    #[serde(default)]
    pub volume_claim_delete_policy: DeletePolicy,
    #[serde(flatten)]
    #[schemars(skip)]
    pub unknown: BTreeMap<String, serde_json::Value>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RemoteClusterServer {
    #[serde(default)]
    pub enabled: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeSet {
    #[schemars(length(max = 23), regex(pattern = "^[a-zA-Z0-9-]+$"))]
    pub name: String,
    #[serde(default)]
    pub config: Config,
    #[serde(default)]
    pub count: i32,
    #[serde(default)]
    #[schemars(schema_with = "any_metadata")]
    pub pod_template: PodTemplateSpec,
    #[serde(default)]
    #[schemars(length(max = 8))]
    pub volume_claim_templates: Vec<Claim>,
}

/// Not all of a claim: its status is nobody's here.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Claim(PersistentVolumeClaim);

impl schemars::JsonSchema for Claim {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Claim".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "properties": {
                "metadata": { "type": "object", "properties": { "name": { "type": "string" } } },
                "spec": generator.subschema_for::<k8s_openapi::api::core::v1::PersistentVolumeClaimSpec>(),
            },
            "required": ["spec"],
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Budget {
    pub metadata: Option<ObjectMeta>,
    pub spec: PodDisruptionBudgetSpec,
}

#[derive(JsonSchema)]
pub struct BudgetTemplate {
    #[schemars(schema_with = "common::any_metadata", default)]
    pub metadata: ObjectMeta,
    pub spec: PodDisruptionBudgetSpec,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpdateStrategy {
    #[serde(default)]
    pub change_budget: ChangeBudget,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeBudget {
    pub max_unavailable: Option<i32>,
    pub max_surge: Option<i32>,
}

impl Default for ChangeBudget {
    fn default() -> Self {
        Self { max_unavailable: Some(1), max_surge: None }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Auth {
    #[serde(default)]
    pub roles: Vec<SecretRef>,
    #[serde(default)]
    pub file_realm: Vec<SecretRef>,
    #[serde(default)]
    pub disable_elastic_user: bool,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum DeletePolicy {
    #[default]
    DeleteOnScaledownAndClusterDeletion,
    DeleteOnScaledownOnly,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchStatus {
    #[serde(default)]
    pub available_nodes: i32,
    #[serde(default)]
    pub health: Health,
    #[serde(default)]
    pub monitoring_association_status: Associations,
    pub in_progress_operations: Option<Operations>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Operations {
    pub upgrade: Vec<Node>,
    pub downscale: Vec<Node>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    pub name: String,
    pub predicate: Option<String>,
    pub shards_remaining: Option<i32>,
}
