use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ByHandFromNothing")]
pub struct Spec {
    #[schemars(schema_with = "made")]
    pub made: String,
    #[schemars(schema_with = "anything")]
    pub anything: serde_json::Value,
}

fn made(_: &mut SchemaGenerator) -> Schema {
    let mut schema = Schema::default();
    schema.insert("type".into(), "string".into());
    schema.insert("enum".to_owned(), serde_json::json!(["a", "b"]));
    schema
}

fn anything(_: &mut SchemaGenerator) -> schemars::Schema {
    let mut schema = schemars::Schema::default();
    schema.insert("x-kubernetes-preserve-unknown-fields".to_string(), true.into());
    schema
}
