use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Types")]
pub struct TypesSpec {
    pub missing: NoSuchType,
    pub foreign: kube::config::Kubeconfig,
    pub underived: Underived,
    pub function: fn(u8) -> u8,
    pub tree: Tree,
    pub long: [u8; 33],
    pub grows: Grows<u8>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Underived {
    pub x: u8,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Tree {
    pub children: Vec<Tree>,
}

/// Larger at each step.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Grows<T> {
    pub inner: Option<Box<Grows<Vec<T>>>>,
}
