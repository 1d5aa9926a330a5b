use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsPlain")]
pub struct Spec {
    pub plain: Plain,
    pub maybe: Option<Plain>,
    pub list: Vec<Plain>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Plain {
    One,
    Two,
}
