use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CfgVariants")]
pub struct Spec {
    pub kind: Kind,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Kind {
    One,
    #[cfg(feature = "off")]
    Two,
    #[cfg(not(feature = "off"))]
    Three,
}
