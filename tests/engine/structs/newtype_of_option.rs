use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "StructsNewtypeOfOption")]
pub struct Spec {
    pub value: Maybe,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Maybe(pub Option<u8>);
