use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "PanicsExclusiveBound")]
pub struct Spec {
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub x: u8,
}
