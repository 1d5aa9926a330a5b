use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsSameFieldTwice")]
pub struct Spec {
    pub source: Source,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Source {
    Git {
        /// Where it is.
        url: String,
    },
    Web {
        url: u8,
    },
}
