use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "SkipVariant")]
pub struct Spec {
    pub kind: Kind,
    pub choice: Choice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Kind {
    One,
    #[serde(skip)]
    Two,
    #[serde(skip_serializing)]
    Three,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Choice {
    One { a: u8 },
    #[serde(skip_deserializing)]
    Two { b: u8 },
}
