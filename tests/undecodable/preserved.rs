//! Below `x-kubernetes-preserve-unknown-fields`, the API server keeps everything.
use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "preserved.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[schemars(schema_with = "anything")]
    optional: Option<Optional>,
    #[schemars(schema_with = "anything")]
    list: Option<Vec<String>>,
    #[schemars(schema_with = "anything")]
    map: Option<BTreeMap<String, u8>>,
    #[schemars(schema_with = "anything")]
    tagged: Option<Tagged>,
    #[schemars(schema_with = "described")]
    described: Option<Tagged>,
    open: Option<Open>,
    #[schemars(schema_with = "anything")]
    raw: Option<serde_json::Value>,
    #[schemars(schema_with = "anything")]
    values: Option<BTreeMap<String, serde_json::Value>>,
    #[schemars(schema_with = "anything")]
    strict: Option<Strict>,
    #[schemars(schema_with = "wider")]
    wider: Option<Strict>,
    narrow: Option<Strict>,
    #[schemars(schema_with = "anything")]
    around: Option<Around>,
}

fn anything(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

fn described(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["disk", "none"]},
            "size": {"type": "integer"},
        },
        "required": ["type"],
    })
}

fn wider(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    })
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Optional {
    a: Option<u8>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Tagged {
    Disk { size: i64 },
    None,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
struct Open {
    a: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Strict {
    a: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Around {
    #[serde(flatten)]
    strict: Strict,
}
