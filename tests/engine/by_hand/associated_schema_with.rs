use kube::CustomResource;
use schemars::JsonSchema;
use schemars::{json_schema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ByHandAssociatedSchemaWith")]
pub struct Spec {
    #[schemars(schema_with = "Made::schema")]
    pub made: String,
}

pub struct Made;

impl Made {
    pub fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": ["a"] })
    }
}
