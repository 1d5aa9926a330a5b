use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaStructMerge")]
pub struct Spec {
    #[x_kube(merge_strategy = StructMerge::Atomic)]
    pub atomic: Inner,
    #[x_kube(merge_strategy = StructMerge::Granular)]
    pub granular: Inner,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub x: u8,
}
