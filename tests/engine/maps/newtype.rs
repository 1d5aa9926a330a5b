use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "MapsNewtype")]
pub struct Spec {
    pub map: BTreeMap<Name, u8>,
    pub by_number: BTreeMap<Number, u8>,
}

#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Deserialize, Serialize, JsonSchema)]
pub struct Name(pub String);

#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Number(pub u32);
