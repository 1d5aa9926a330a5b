use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ConversionsDeserializeWith")]
pub struct Spec {
    #[serde(deserialize_with = "read")]
    pub x: Option<u8>,
    #[serde(deserialize_with = "read", default)]
    pub y: Option<u8>,
}

fn read<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    Option::deserialize(deserializer)
}
