use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "WrappersReferences")]
pub struct Spec {
    #[schemars(with = "&'static str")]
    pub text: String,
    #[schemars(with = "&'static [u8]")]
    pub list: Vec<u8>,
    #[schemars(with = "&'static mut Option<u8>")]
    pub maybe: Option<u8>,
}
