use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsConversions")]
pub struct Spec {
    #[serde(default = "made")]
    pub name: Name,
    #[serde(default = "wide")]
    pub wide: u64,
    #[serde(default = "boxed")]
    pub boxed: Box<Name>,
    #[serde(default = "json")]
    pub json: serde_json::Value,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Name(pub String);

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self(text.to_string())
    }
}

fn made() -> Name {
    "name".into()
}

fn wide() -> u64 {
    u64::from(7u8)
}

fn boxed() -> Box<Name> {
    Box::new(Name::from("boxed"))
}

fn json() -> serde_json::Value {
    serde_json::json!({ "a": [1, true, null] })
}
