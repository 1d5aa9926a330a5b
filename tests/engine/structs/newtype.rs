use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "StructsNewtype")]
pub struct Spec {
    pub port: Port,
    pub maybe: Option<Port>,
}

/// A port number.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Port(pub u16);
