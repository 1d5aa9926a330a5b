use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsDocumentedVariants")]
pub struct Spec {
    pub documented: Documented,
    pub maybe: Option<Documented>,
    /// Words of the field.
    pub described: Option<Documented>,
    pub list: Vec<Documented>,
}

/// What it means.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Documented {
    /// The first.
    First,
    /// The second.
    Second,
}
