use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "WrappersWeak")]
pub struct Spec {
    #[schemars(with = "std::rc::Weak<u8>")]
    pub counted: u8,
    #[schemars(with = "std::sync::Weak<u8>")]
    pub shared: u8,
}
