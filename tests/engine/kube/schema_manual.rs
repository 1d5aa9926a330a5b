use kube::CustomResource;
use schemars::JsonSchema;
use schemars::{json_schema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaManual", schema = "manual")]
pub struct Spec {
    pub x: u8,
}

impl JsonSchema for KubeSchemaManual {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Manual".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": { "spec": { "type": "object", "properties": { "x": { "type": "integer" } } } }
        })
    }
}
