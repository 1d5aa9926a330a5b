//! A neighbour whose pattern nothing simple matches changes nothing.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "hard-to-sample.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[schemars(regex(pattern = "^[a-f]{7}-[0-9]{3}$"))]
    code: String,
    count: u32,
    #[schemars(regex(pattern = "^[a-f]{7}-[0-9]{3}$"))]
    address: Option<std::net::IpAddr>,
}
