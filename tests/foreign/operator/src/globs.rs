//! Globs of other crates, which bring no `to_string`, `vec!` or `json_schema!` of their own.

#[allow(unused_imports)]
use futures::*;
#[allow(unused_imports)]
use gateway::*;
use kube::CustomResource;
use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize};
#[allow(unused_imports)]
use tokio::*;
#[allow(unused_imports)]
use widget::*;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Globs")]
pub struct GlobsSpec {
    #[serde(default = "text")]
    text: String,
    #[serde(default = "list")]
    list: Vec<String>,
    #[schemars(schema_with = "made")]
    made: String,
    size: Size,
}

fn text() -> String {
    "text".to_string()
}

fn list() -> Vec<String> {
    vec!["a".to_owned(), "b".into()]
}

fn made(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    json_schema!({ "type": "string", "maxLength": 5 })
}
