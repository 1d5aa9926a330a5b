use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ModulesNamesInNestedMacros")]
pub struct Spec {
    pub x: u8,
    pub y: Vec<i64>,
}

macro_rules! aliases {
    ($($name:ident),*) => { $(alias!($name, u8, i64);)* };
}
macro_rules! alias {
    ($name:ident, $first:ty, $second:ty) => {
        #[allow(dead_code)]
        type $name = ($first, $second);
    };
}
aliases!(Alpha, Beta);
