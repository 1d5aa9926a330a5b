use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsVariantTitle")]
pub struct Spec {
    pub kind: Kind,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Kind {
    #[schemars(title = "The first", description = "of all")]
    One,
    #[schemars(extend("x-a" = true))]
    Two,
    #[deprecated]
    Three,
}
