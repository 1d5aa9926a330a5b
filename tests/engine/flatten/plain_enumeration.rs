use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "FlattenPlainEnumeration")]
pub struct Spec {
    pub own: u8,
    #[serde(flatten)]
    pub kind: Kind,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Kind {
    One,
    Two,
}
