//! In maps, a rule limits the values. Keys of an enum are fields; others are dropped.
use std::collections::{BTreeMap, HashMap};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "maps.example.com", version = "v1", kind = "K")]
pub struct Spec {
    a: Option<BTreeMap<String, u32>>,
    b: Option<BTreeMap<Size, u32>>,
    c: Option<BTreeMap<String, Vec<u32>>>,
    d: Option<HashMap<String, Inner>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
enum Size {
    Small,
    #[serde(alias = "big")]
    Large,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Inner {
    count: u32,
}
