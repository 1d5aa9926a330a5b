use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ForeignIndexmapModules")]
pub struct Spec {
    pub map: indexmap::map::IndexMap<u16, u8>,
    pub set: indexmap::set::IndexSet<String>,
}
