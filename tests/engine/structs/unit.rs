use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "StructsUnit")]
pub struct Spec {
    pub unit: Unit,
    pub maybe: Option<Unit>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Unit;
