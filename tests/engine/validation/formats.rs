use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationFormats")]
pub struct Spec {
    #[schemars(email)]
    pub email: Option<String>,
    #[schemars(url)]
    pub url: String,
    #[schemars(ip)]
    pub ip: String,
    #[schemars(ipv4)]
    pub ipv4: String,
    #[schemars(ipv6)]
    pub ipv6: String,
}
