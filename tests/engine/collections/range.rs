use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CollectionsRange")]
pub struct Spec {
    pub range: std::ops::Range<u16>,
    pub inclusive: std::ops::RangeInclusive<i32>,
}
