use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "StructsTransparentWithWords")]
pub struct Spec {
    pub wrapped: Wrapped,
    pub maybe: Option<Wrapped>,
}

/// Words of the wrapper.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Wrapped {
    /// Words of the field.
    #[schemars(length(max = 5))]
    pub only: String,
}
