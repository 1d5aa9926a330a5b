use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsMaps")]
pub struct Spec {
    #[serde(default = "empty")]
    pub empty: BTreeMap<String, u8>,
    #[serde(default = "from")]
    pub from: BTreeMap<String, u8>,
    #[serde(default = "into")]
    pub into: HashMap<String, String>,
    #[serde(default = "numbers")]
    pub numbers: BTreeMap<u8, bool>,
    #[serde(default = "by_kind")]
    pub by_kind: BTreeMap<Kind, u8>,
}

fn empty() -> BTreeMap<String, u8> {
    BTreeMap::new()
}

fn from() -> BTreeMap<String, u8> {
    BTreeMap::from([("b".to_string(), 1), ("a".into(), 2)])
}

fn into() -> HashMap<String, String> {
    [("a".to_string(), "b".to_string())].into()
}

fn numbers() -> BTreeMap<u8, bool> {
    BTreeMap::from([(1, true)])
}

fn by_kind() -> BTreeMap<Kind, u8> {
    BTreeMap::from([(Kind::LongName, 1)])
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    LongName,
}
