//! Enums behind a schema that is written by hand.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "schema-functions.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[schemars(schema_with = "internal")]
    internal: Option<Internal>,
    #[schemars(schema_with = "internal")]
    content: Option<Adjacent>,
    #[schemars(schema_with = "external")]
    external: Option<External>,
    #[schemars(schema_with = "untagged")]
    untagged: Option<Untagged>,
    #[schemars(schema_with = "names")]
    names: Option<Names>,
    #[schemars(schema_with = "names")]
    complete: Option<Complete>,
    #[schemars(schema_with = "tuple")]
    tuple: Option<(u8, u8)>,
    #[schemars(schema_with = "tuple")]
    tuple_struct: Option<Pair>,
}

fn internal(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "required": ["kind"],
        "properties": {
            "kind": {"type": "string", "enum": ["Disk", "Bucket"]},
            "size": {"type": "integer"},
            "name": {"type": "string"},
        },
    })
}

fn external(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "maxProperties": 1,
        "properties": {
            "disk": {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer", "minimum": 0, "maximum": 9}}},
            "bucket": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
        },
    })
}

fn untagged(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "properties": {"size": {"type": "integer", "minimum": 0, "maximum": 9}, "name": {"type": "string"}},
    })
}

fn names(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "string", "enum": ["a", "b", "c"]})
}

fn tuple(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}})
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Internal {
    Disk { size: i64 },
    Bucket { name: String },
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "name")]
enum Adjacent {
    Disk(String),
    Bucket(Option<String>),
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum External {
    Disk { size: u8 },
    Bucket { name: String },
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Disk { size: u8 },
    Bucket { name: String },
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Names {
    A,
    B,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Complete {
    A,
    B,
    C,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Pair(u8, u8);
