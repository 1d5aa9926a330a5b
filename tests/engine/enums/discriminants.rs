use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsDiscriminants")]
pub struct Spec {
    pub kind: Kind,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[repr(u8)]
pub enum Kind {
    One = 1,
    Four = 4,
}
