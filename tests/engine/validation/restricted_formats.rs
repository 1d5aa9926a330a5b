use kube::CustomResource;
use schemars::JsonSchema;
use schemars::transform::RestrictFormats;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationRestrictedFormats")]
#[schemars(transform = RestrictFormats::default())]
pub struct Spec {
    pub byte: u8,
    pub inner: Vec<Inner>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    #[schemars(transform = schemars::transform::RestrictFormats::default(), extend("format" = "own"))]
    pub number: i64,
    pub time: jiff::Timestamp,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationRestrictedField", namespaced)]
pub struct OtherSpec {
    #[schemars(transform = RestrictFormats::default())]
    pub byte: u8,
    pub other: u8,
}
