use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsMutated")]
pub struct Spec {
    #[serde(default = "map")]
    pub map: BTreeMap<String, String>,
    #[serde(default = "list")]
    pub list: Vec<u8>,
}

fn map() -> BTreeMap<String, String> {
    let mut map = BTreeMap::new();
    map.insert("b".into(), "1".to_string());
    map.insert("a".into(), "2".to_string());
    map.insert("b".into(), "3".to_string());
    map
}

fn list() -> Vec<u8> {
    let mut list = vec![3];
    list.push(1);
    list
}
