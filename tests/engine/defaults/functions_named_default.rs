use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "FunctionsNamedDefault")]
pub struct Spec {
    #[serde(default = "made::default")]
    pub of_a_module: u8,
    #[serde(default = "Made::default")]
    pub of_a_type: String,
}

mod made {
    pub fn default() -> u8 {
        7
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Made {
    pub size: u8,
}

impl Made {
    pub fn default() -> String {
        "inherent".to_string()
    }
}
