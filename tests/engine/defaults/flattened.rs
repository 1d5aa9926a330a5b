use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsFlattened")]
pub struct Spec {
    #[serde(default)]
    pub inner: Inner,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    #[serde(flatten)]
    pub map: BTreeMap<String, u8>,
    #[serde(flatten)]
    pub maybe: Option<Deep>,
    #[serde(flatten)]
    pub deep: Deep,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Deep {
    pub y: u8,
}
