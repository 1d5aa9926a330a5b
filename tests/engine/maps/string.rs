use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "MapsString")]
pub struct Spec {
    pub btree: BTreeMap<String, u16>,
    pub hash: HashMap<String, Vec<bool>>,
    pub maybe: Option<BTreeMap<String, Option<u8>>>,
}
