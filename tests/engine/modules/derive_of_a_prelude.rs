use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use prelude::*;

#[derive(Resource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ModulesDeriveOfAPrelude")]
pub struct Spec {
    pub x: u8,
}

mod prelude {
    pub use kube::CustomResource as Resource;
}
