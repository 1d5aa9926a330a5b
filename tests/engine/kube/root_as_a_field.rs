use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeRootAsAField")]
pub struct Spec {
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeRootAsAFieldOuter")]
pub struct OuterSpec {
    pub other: KubeRootAsAField,
    pub list: Vec<KubeRootAsAField>,
}
