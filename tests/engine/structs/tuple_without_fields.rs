use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "StructsTupleWithoutFields")]
pub struct Spec {
    pub nothing: Nothing,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Nothing();
