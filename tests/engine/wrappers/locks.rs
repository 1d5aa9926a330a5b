use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "WrappersLocks")]
pub struct Spec {
    #[schemars(with = "std::sync::Mutex<u8>")]
    pub mutex: u8,
    #[schemars(with = "std::sync::RwLock<Option<u8>>")]
    pub lock: u8,
}
