use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "StructsNewtypeWithValidation")]
pub struct Spec {
    pub port: Port,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Port(#[schemars(range(min = 1, max = 65535))] pub u16);
