use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsPartlyDocumented")]
pub struct Spec {
    pub partly: Partly,
    pub maybe: Option<Partly>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Partly {
    /// With words.
    A,
    B,
    C,
}
