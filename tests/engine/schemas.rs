use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "test.example.com", version = "v1", kind = "Unchecked", schema = "disabled")]
pub struct UncheckedSpec {
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "test.example.com", version = "v1", kind = "HandMade", schema = "manual")]
pub struct HandMadeSpec {
    pub x: u8,
}

impl JsonSchema for HandMade {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HandMade".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": { "spec": { "type": "object", "properties": { "x": { "type": "integer" } } } }
        })
    }
}

/// An enum may be a spec.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Choice")]
pub enum ChoiceSpec {
    /// One.
    One { a: String },
    /// Two.
    Two { b: i32 },
}
