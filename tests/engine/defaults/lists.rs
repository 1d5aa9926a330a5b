use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsLists")]
pub struct Spec {
    #[serde(default = "names")]
    pub names: Vec<String>,
    #[serde(default = "empty")]
    pub empty: Vec<u8>,
    #[serde(default = "repeated")]
    pub repeated: Vec<u8>,
    #[serde(default = "array")]
    pub array: [u8; 2],
    #[serde(default = "filled")]
    pub filled: [u8; 3],
    #[serde(default = "set")]
    pub set: BTreeSet<String>,
    #[serde(default = "slice")]
    pub slice: Vec<String>,
    #[serde(default = "from")]
    pub from: Vec<i32>,
    #[serde(default = "tuple")]
    pub tuple: (u8, String),
    #[serde(default = "objects")]
    pub objects: Vec<Inner>,
}

fn names() -> Vec<String> {
    vec!["a".into(), String::from("b"), "c".to_string()]
}

fn empty() -> Vec<u8> {
    Vec::new()
}

fn repeated() -> Vec<u8> {
    vec![1; 3]
}

fn array() -> [u8; 2] {
    [1, 2]
}

fn filled() -> [u8; 3] {
    [7; 3]
}

fn set() -> BTreeSet<String> {
    BTreeSet::from(["b".to_string(), "a".to_string()])
}

fn slice() -> Vec<String> {
    ["x".to_string()].to_vec()
}

fn from() -> Vec<i32> {
    Vec::from([1, 2])
}

fn tuple() -> (u8, String) {
    (1, "b".into())
}

fn objects() -> Vec<Inner> {
    vec![Inner { x: 1 }, Inner::default()]
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub x: u8,
}
