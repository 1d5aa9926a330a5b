use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Enums")]
#[serde(rename_all = "camelCase")]
pub struct EnumsSpec {
    pub plain: Plain,
    pub maybe_plain: Option<Plain>,
    pub documented: Documented,
    pub maybe_documented: Option<Documented>,
    pub partly: Partly,
    /// The source of it all.
    pub source: Source,
    pub maybe_source: Option<Source>,
    pub untagged: Untagged,
    pub list: Vec<Documented>,
    #[serde(flatten)]
    pub choice: Choice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Plain {
    One,
    #[serde(rename = "two")]
    Second,
    #[serde(skip)]
    Hidden,
    ThirdOne,
}

/// What it means.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Documented {
    /// The first.
    First,
    /// The second.
    Second,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Partly {
    /// With words.
    A,
    B,
    C,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Source {
    /// From a git repository.
    GitRepo { clone_url: String, depth: Option<u32> },
    Inline(Inline),
    Name(String),
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inline {
    /// The text.
    pub text: String,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Untagged {
    A { a: String },
    B { b: i32 },
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    Left(Inline),
    Right(Inline),
}
