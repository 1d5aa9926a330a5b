use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "MapsEnumeration")]
pub struct Spec {
    pub map: BTreeMap<Letter, u8>,
}

#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Letter {
    A,
    B,
}
