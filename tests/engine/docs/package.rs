use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DocsPackage")]
pub struct Spec {
    #[doc = concat!("Since ", env!("CARGO_PKG_VERSION"), ", or ", -1)]
    #[doc = env!("CARGO_PKG_VERSION_MINOR")]
    #[serde(default = "image")]
    pub image: String,
}

fn image() -> String {
    format!("registry/app:{}", env!("CARGO_PKG_VERSION"))
}
