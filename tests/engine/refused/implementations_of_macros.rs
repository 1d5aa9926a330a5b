use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
macro_rules! t { () => { Inner }; }
#[derive(CustomResource, Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[kube(group = "g.com", version = "v1", kind = "A")]
struct ASpec {
    #[serde(default)]
    a: Inner,
}
#[derive(Deserialize, Clone, Debug, JsonSchema, Default)]
struct Inner { x: i32 }
impl Serialize for t!() {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> { s.serialize_str("hi") }
}
