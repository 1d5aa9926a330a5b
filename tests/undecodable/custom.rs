//! Code of the operator decides what is read.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "custom.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[serde(deserialize_with = "lenient", default)]
    #[schemars(with = "i64")]
    a: u32,
    b: Option<ByHand>,
    c: Option<Even>,
    d: Option<Named>,
}

fn lenient<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Ok(i64::deserialize(deserializer)? as u32)
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ByHand(u32);

impl<'de> Deserialize<'de> for ByHand {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient(deserializer).map(Self)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u32")]
struct Even(u32);

impl TryFrom<u32> for Even {
    type Error = String;

    fn try_from(number: u32) -> Result<Self, String> {
        if number % 2 == 0 { Ok(Self(number)) } else { Err("odd".into()) }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(from = "u32")]
struct Named(u32);

impl From<u32> for Named {
    fn from(number: u32) -> Self {
        Self(number)
    }
}
