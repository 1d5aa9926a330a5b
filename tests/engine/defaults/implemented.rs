use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsImplemented")]
pub struct Spec {
    #[serde(default)]
    pub manual: Manual,
    #[serde(default)]
    pub partly: Partly,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Manual {
    pub size: u8,
    pub name: String,
}

impl Default for Manual {
    fn default() -> Self {
        Self { size: 5, name: "five".into() }
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Partly {
    pub manual: Manual,
    pub number: u8,
    pub list: Vec<u8>,
}

impl Default for Partly {
    fn default() -> Self {
        let number = 3;
        Partly { number, manual: Manual { size: 1, ..Default::default() }, list: vec![number, 2] }
    }
}
