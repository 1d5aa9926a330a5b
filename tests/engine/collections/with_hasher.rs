use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::hash::RandomState;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CollectionsWithHasher")]
pub struct Spec {
    pub set: HashSet<String, RandomState>,
    pub map: HashMap<String, u8, RandomState>,
}
