use kube::CustomResource;
use schemars::JsonSchema;
use schemars::{json_schema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ByHandSchemaWith")]
pub struct Spec {
    #[schemars(schema_with = "anything")]
    pub any: serde_json::Value,
    #[schemars(schema_with = "inner::made")]
    pub made: Option<u8>,
    #[schemars(schema_with = "inner::made", length(max = 5))]
    pub bounded: String,
}

fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

mod inner {
    pub fn made(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = generator.subschema_for::<Option<String>>();
        schema.insert("description".into(), "made".into());
        schema
    }
}
