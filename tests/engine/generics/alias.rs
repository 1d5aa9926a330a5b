use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "GenericsAlias")]
pub struct Spec {
    pub names: Names,
    pub many: Many<u8>,
    pub nested: Many<Many<String>>,
    pub maybe: Maybe<u8>,
    pub defaulted: Table,
}

pub type Names = BTreeMap<String, Many<u8>>;
pub type Many<T> = Vec<T>;
pub type Maybe<T> = Option<T>;
pub type Table<V = u8> = BTreeMap<String, V>;
