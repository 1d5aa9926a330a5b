use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsEnumerations")]
pub struct Spec {
    #[serde(default = "Kind::low")]
    pub associated: Kind,
    #[serde(default = "high")]
    pub free: Kind,
    #[serde(default = "newtype")]
    pub newtype: Choice,
    #[serde(default = "structure")]
    pub structure: Choice,
    #[serde(default = "tuple")]
    pub tuple: Choice2,
    #[serde(default = "internal")]
    pub internal: Internal,
    #[serde(default = "adjacent")]
    pub adjacent: Adjacent,
    #[serde(default = "untagged")]
    pub untagged: Untagged,
    #[serde(default)]
    pub implemented: Kind,
    #[serde(default)]
    pub of_data: Choice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Kind {
    VeryLow,
    #[serde(rename = "top")]
    High,
}

impl Kind {
    fn low() -> Self {
        Kind::VeryLow
    }
}

impl Default for Kind {
    fn default() -> Self {
        Self::High
    }
}

fn high() -> Kind {
    Kind::High
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    ByName { the_name: String },
    ByNumber(Inner),
}

impl Default for Choice {
    fn default() -> Self {
        Choice::ByName { the_name: "it".into() }
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub x: u8,
}

fn newtype() -> Choice {
    Choice::ByNumber(Inner { x: 1 })
}

fn structure() -> Choice {
    Choice::ByName { the_name: "n".into() }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Choice2 {
    Pair(u8, bool),
}

fn tuple() -> Choice2 {
    Choice2::Pair(1, true)
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type")]
pub enum Internal {
    Only { x: u8 },
}

fn internal() -> Internal {
    Internal::Only { x: 1 }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
pub enum Adjacent {
    Only(u8),
}

fn adjacent() -> Adjacent {
    Adjacent::Only(5)
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Untagged {
    Number { n: u8 },
    Text { t: String },
}

fn untagged() -> Untagged {
    Untagged::Text { t: "t".into() }
}
