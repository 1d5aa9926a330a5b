use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Pool", namspaced, shortnam = "p")]
#[kube(printcolumn(name = "X", typ_ = "string", json_path = ".spec.x"), scale(spec_replicas = ".spec.x"))]
pub struct PoolSpec {
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Fields")]
#[serde(rename_al = "camelCase", deny_unknown_field)]
pub struct FieldsSpec {
    #[schemars(lenght(min = 1), description("text"))]
    #[serde(renme = "a", defalt)]
    pub misspelled: String,
    #[schemars(range(mni = 1), length(min = 1, equal = 2))]
    pub arguments: i32,
    #[schemars(regex(pattern = "^a"), contains("b"))]
    #[serde(rename)]
    pub exclusive: String,
    #[schemars(email, url, !default)]
    pub formats: String,
    #[schemars(deprecated = true, example = "x", inner(extend("a" = 1)))]
    pub refused: Vec<String>,
    #[schemars(alias = "x", minimum = 1)]
    #[serde(range(min = 1))]
    #[serde(rename_all = "camelCase")]
    pub elsewhere: i32,
    #[schmars(email)]
    pub unknown: String,
    #[x_kube(validation = "self > 1")]
    pub underived: i32,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Nested")]
pub struct NestedSpec {
    pub rules: Rules,
    pub kind: Kind,
}

#[derive(Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[x_kube(validtion = "self.a > 1")]
pub struct Rules {
    #[x_kube(merge_stategy = ListMerge::Atomic, validation)]
    pub a: Vec<i32>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCas")]
pub enum Kind {
    #[serde(flatten)]
    A { x: u8 },
    #[schemars(length(min = 1))]
    B(#[serde(skip_serialising)] Rules, u8),
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Ignored")]
pub struct IgnoredSpec {
    #[validate(lenght(min = 1), range(mni = 1), nested)]
    #[kube(shortname = "x")]
    pub ignored: i32,
}

/// kube took several columns before 3.1.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "test.example.com", version = "v1", kind = "Columns",
    printcolumn = r#"{"name":"A","type":"string","jsonPath":".a"}, {"name":"B","type":"string","jsonPath":".b"}"#
)]
pub struct ColumnsSpec {}
