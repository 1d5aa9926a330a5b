//! In lists, an attribute limits the items.
use std::collections::BTreeSet;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "lists.example.com", version = "v1", kind = "K")]
pub struct Spec {
    a: Option<Vec<u32>>,
    b: Option<BTreeSet<u32>>,
    c: Option<Vec<Vec<u32>>>,
    d: Option<Box<[u32; 2]>>,
    e: Option<Vec<std::net::Ipv4Addr>>,
    #[schemars(with = "Vec<u8>")]
    #[serde(default)]
    f: [u8; 3],
}
