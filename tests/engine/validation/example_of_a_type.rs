use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationExampleOfAType")]
pub struct Spec {
    #[schemars(example = Inner { x: 5, name: Some("n".into()) }, example = Inner::default())]
    pub inner: Inner,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[schemars(example = Inner::one())]
pub struct Inner {
    pub x: u8,
    pub name: Option<String>,
}

impl Inner {
    fn one() -> Self {
        Self { x: 1, name: None }
    }
}
