use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "RenameAllDeserialize")]
#[serde(rename_all(serialize = "UPPERCASE", deserialize = "camelCase"))]
pub struct Spec {
    pub first_field: u8,
}
