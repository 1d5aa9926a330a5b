use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsContainer")]
pub struct Spec {
    pub container: Container,
    pub derived: Derived,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Container {
    pub first_one: u8,
    pub maybe: Option<String>,
    pub inner: Derived,
    #[serde(default = "own")]
    pub own: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<u8>,
}

impl Default for Container {
    fn default() -> Self {
        Container { first_one: 1, maybe: Some("b".to_owned()), inner: Derived::default(), own: 0, skipped: None }
    }
}

fn own() -> u8 {
    9
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Derived {
    pub x: u8,
    pub list: Vec<String>,
}
