use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v2alpha1", kind = "Converted", served = false, storage = false, deprecated)]
pub struct ConvertedSpec {
    pub from: Percent,
    pub try_from: Strict,
    pub by_hand: ByHand,
    #[schemars(with = "Option<String>")]
    pub with_option: Strict,
    pub renamed: Renamed,
    pub by_letter: HashMap<Letter, u8>,
    pub by_number: BTreeMap<u16, String>,
    pub newtype: Outer<Inner>,
    pub duration: kube::core::Duration,
    #[serde(rename(serialize = "out", deserialize = "in"))]
    pub two_names: bool,
    #[schemars(!rename)]
    #[serde(rename = "elsewhere")]
    pub unset: bool,
    #[deprecated]
    pub old: Option<String>,
    #[doc = "said by an attribute"]
    pub doc_attribute: String,
    #[schemars(length(equal = 4), pattern("^a"))]
    pub equal: String,
    #[schemars(range(max = u16::MAX, min = -(1 << 3)))]
    pub computed: i64,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(from = "u8")]
pub struct Percent(f64);

impl From<u8> for Percent {
    fn from(percent: u8) -> Self {
        Self(f64::from(percent) / 100.0)
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Strict(String);

impl TryFrom<String> for Strict {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Ok(Self(text))
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ByHand(pub String);

impl JsonSchema for ByHand {
    fn schema_name() -> Cow<'static, str> {
        "ByHand".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "properties": { "inner": generator.subschema_for::<Inner>() }, "required": ["inner"] })
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "Other", title = "A title", description = "words", extend("x-a" = true))]
pub struct Renamed {
    pub x: Option<Letter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Letter {
    A,
    B,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Outer<T>(pub Vec<T>);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub n: Cow<'static, str>,
}
