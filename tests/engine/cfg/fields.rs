use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CfgFields")]
pub struct Spec {
    #[cfg(test)]
    pub only_in_tests: String,
    #[cfg(feature = "on")]
    pub on: u8,
    #[cfg(feature = "off")]
    pub off: u8,
    #[cfg(all(unix, not(feature = "off")))]
    pub both: u8,
    #[cfg(any(windows, feature = "on"))]
    pub any: u8,
}
