use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsSerializeOnlyNames")]
pub struct Spec {
    #[serde(default)]
    pub inner: Inner,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all(serialize = "SCREAMING_SNAKE_CASE", deserialize = "camelCase"))]
pub struct Inner {
    pub long_name: u8,
    #[schemars(rename = "schemaOnly")]
    pub other_name: u8,
    #[serde(skip_serializing)]
    pub quiet: u8,
    #[serde(skip_deserializing)]
    pub loud: u8,
}
