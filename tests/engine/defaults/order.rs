use std::collections::{BTreeMap, BTreeSet};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsOrder")]
pub struct Spec {
    #[serde(default = "set")]
    pub set: Vec<i32>,
    #[serde(default = "turbofish")]
    pub turbofish: Vec<String>,
    #[serde(default = "names")]
    pub names: BTreeSet<String>,
    #[serde(default = "later")]
    pub later: BTreeMap<String, i32>,
}

fn set() -> Vec<i32> {
    let set = BTreeSet::from([3, 1, 3]);
    set.into_iter().collect()
}

fn turbofish() -> Vec<String> {
    let names = ["b".to_string(), "a".to_string()];
    names.into_iter().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
}

fn names() -> BTreeSet<String> {
    ["b", "a", "b"].into_iter().map(str::to_string).collect()
}

fn later() -> BTreeMap<String, i32> {
    [("b".to_string(), 1), ("a".to_string(), 2), ("b".to_string(), 3)].into_iter().collect()
}
