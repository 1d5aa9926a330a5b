use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "PanicsWhereNotWritten")]
pub struct Spec {
    #[serde(default = "skipped")]
    pub skipped: WithCache,
    #[serde(skip_serializing)]
    pub unwritable: Unwritable,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct WithCache {
    pub number: u8,
    #[serde(skip)]
    pub cache: Cache,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct Cache(pub Vec<u8>);

fn skipped() -> WithCache {
    WithCache { number: 1, cache: filled() }
}

fn filled() -> Cache {
    Cache(listed(Vec::new()))
}

fn listed(list: Vec<u8>) -> Vec<u8> {
    if list.as_ptr().is_null() { list } else { panic!("nothing to list") }
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Unwritable {
    #[serde(default = "filled")]
    pub by_function: Cache,
    #[serde(default)]
    pub by_trait: Broken,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Broken(pub u8);

impl Default for Broken {
    fn default() -> Self {
        Self(*listed(Vec::new()).first().unwrap())
    }
}
