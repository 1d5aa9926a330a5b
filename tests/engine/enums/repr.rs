use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsRepr")]
pub struct Spec {
    pub number: Number,
    pub maybe: Option<Number>,
}

/// Words.
#[derive(Clone, Debug, schemars::JsonSchema_repr)]
#[repr(i16)]
pub enum Number {
    One = 1,
    Two,
    Ten = 5 * 2,
    Less = -1,
}

impl Serialize for Number {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i16(self.clone() as i16)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i16::deserialize(deserializer).map(|_| Number::One)
    }
}
