use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ModulesShadowedNames")]
pub struct Spec {
    pub list: Vec,
    pub maybe: own::Option,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Vec {
    pub x: u8,
}

mod own {
    #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    pub struct Option {
        pub y: u8,
    }
}
