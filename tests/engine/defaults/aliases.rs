use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsAliases")]
pub struct Spec {
    #[serde(default)]
    pub time: Option<chrono::DateTime<chrono::Utc>>,
    #[serde(default)]
    pub labels: Labels,
    #[serde(skip_serializing)]
    pub unwritable: Unwritable,
}

type Labels = BTreeMap<String, String>;
type List<T> = Vec<T>;
type Rules = BTreeMap<String, List<Rule>>;

/// No `Serialize`, so no defaults with it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct Rule {
    pub x: u8,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Unwritable {
    #[serde(default)]
    pub list: List<Rule>,
    #[serde(default)]
    pub rules: Rules,
    #[serde(default)]
    pub pair: (List<Rule>, u8),
    #[serde(default)]
    pub numbers: List<u8>,
    #[serde(default)]
    pub generic: Generic<u8>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct Generic<T> {
    #[serde(default)]
    pub list: List<T>,
    #[serde(default)]
    pub nested: List<List<Option<T>>>,
    #[serde(default)]
    pub numbers: List<List<u8>>,
}
