use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsOfHandWritten")]
pub struct Spec {
    #[serde(default)]
    pub list: Vec<ByHand>,
    #[serde(default)]
    pub maybe: Option<ByHand>,
    #[serde(default)]
    pub map: BTreeMap<String, ByHand>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<ByHand>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct ByHand {
    pub a: u8,
}

impl Serialize for ByHand {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(9)
    }
}
