use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ConversionsWithOnAContainer")]
pub struct Spec {
    pub value: Opaque,
    pub described: Described,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(with = "Option<String>")]
pub struct Opaque {
    pub hidden: u8,
}

/// Words.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(with = "Option<String>")]
pub struct Described {
    pub hidden: u8,
}
