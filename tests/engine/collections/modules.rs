use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CollectionsModules")]
pub struct Spec {
    pub map: std::collections::btree_map::BTreeMap<String, u8>,
    pub set: std::collections::hash_set::HashSet<u8>,
    pub list: std::vec::Vec<u8>,
}
