use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsCollections")]
pub struct Spec {
    #[serde(default)]
    pub list: Vec<String>,
    #[serde(default)]
    pub deque: std::collections::VecDeque<u8>,
    #[serde(default)]
    pub set: std::collections::BTreeSet<u8>,
    #[serde(default)]
    pub hash_set: std::collections::HashSet<u8>,
    #[serde(default)]
    pub map: BTreeMap<String, String>,
    #[serde(default)]
    pub hash_map: std::collections::HashMap<u8, u8>,
    #[serde(default)]
    pub array: [u8; 2],
    #[serde(default)]
    pub pair: (u8, String),
    #[serde(default)]
    pub maybe: Option<String>,
}
