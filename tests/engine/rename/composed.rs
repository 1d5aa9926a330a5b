use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// Each `é` is two characters: rustc composes them in names, and leaves them in texts.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "RenameComposed")]
pub struct Spec {
    /// Café
    pub café: String,
    #[serde(rename = "thé")]
    pub tea: String,
    pub r#ré: Variants,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Variants {
    Ré,
    Re,
}
