use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CollectionsTuple")]
pub struct Spec {
    pub pair: (String, u16),
    pub one: (bool,),
    pub three: Option<(u8, Option<u8>, Vec<u8>)>,
}
