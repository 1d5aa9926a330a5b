use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "StructsTuple")]
pub struct Spec {
    pub point: Point,
}

/// Two numbers.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Point(
    pub f64,
    /// The second.
    #[schemars(range(min = 0))]
    pub f64,
);
