use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsExternalTuples")]
pub struct Spec {
    pub value: Value,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Value {
    Pair(u8, String),
    Three(u8, #[schemars(length(max = 3))] String, bool),
}
