use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsInCollections")]
pub struct Spec {
    pub list: Vec<Kind>,
    pub map: BTreeMap<String, Kind>,
    pub set: std::collections::BTreeSet<Kind>,
    pub maybe: Option<Vec<Option<Kind>>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
pub enum Kind {
    /// First.
    A,
    B,
}
