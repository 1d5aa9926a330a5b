use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(names::Crd, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ModulesDeriveByAPath")]
pub struct Spec {
    pub x: u8,
}

mod names {
    pub use kube::CustomResource as Crd;
}
