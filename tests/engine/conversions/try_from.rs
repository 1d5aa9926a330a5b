use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ConversionsTryFrom")]
pub struct Spec {
    pub strict: Strict,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Strict(String);

impl TryFrom<String> for Strict {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Ok(Self(text))
    }
}
