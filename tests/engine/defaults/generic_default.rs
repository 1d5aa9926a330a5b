use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsGenericDefault")]
pub struct Spec {
    #[serde(default)]
    pub one: Outer<u8>,
    #[serde(default = "made")]
    pub other: Outer<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Outer<T> {
    pub inner: T,
    pub list: Vec<T>,
}

impl<U> Outer<U> {
    fn of(inner: U) -> Self {
        Outer { inner, list: Vec::new() }
    }
}

fn made() -> Outer<String> {
    Outer::of("a".to_string())
}
