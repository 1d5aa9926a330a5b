use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Rules")]
#[x_kube(validation = rule())]
pub struct RulesSpec {
    #[x_kube(validation = Rule::new("self > 0").reason(reason()))]
    pub x: u8,
    #[x_kube(merge_strategy = strategy())]
    pub list: Vec<String>,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, schemars::JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Hidden", schema = "manual")]
pub struct HiddenSpec {
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Lost")]
#[kube(scale(spec_replicas_path = ".spec.x", status_replicas_path = ".status.x"))]
pub struct LostSpec {
    #[x_kube(merge_strategy = StructMerge::Atomic)]
    pub x: Inner,
}

#[derive(Clone, Debug, Deserialize, Serialize, schemars::JsonSchema)]
pub struct Inner {
    pub y: u8,
}
