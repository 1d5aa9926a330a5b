use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DocsTitlesBySchemars")]
pub struct Spec {
    #[schemars(title = "T", description = "D")]
    pub x: u8,
    /// # Title of the doc
    ///
    /// Description of the doc.
    #[schemars(title = "Other")]
    pub y: u8,
    /// Words.
    #[schemars(description = "")]
    pub z: u8,
    #[schemars(description = concat!("a", "b"), title = TITLE)]
    pub w: u8,
}

const TITLE: &str = "constant";
