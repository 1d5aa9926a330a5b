use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[unknown::resource]
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "AddedDerive")]
pub struct AddedDeriveSpec {
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "OtherDerives")]
pub struct OtherDerivesSpec {
    #[serde(default)]
    pub default: OtherDefault,
    pub schema: OtherSchema,
    #[serde(default)]
    pub display: OtherSerialize,
    pub between: Between,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, unknown::Default)]
pub struct OtherDefault {
    pub x: u8,
}

#[derive(Clone, Debug, Deserialize, Serialize, unknown::JsonSchema)]
pub struct OtherSchema {
    pub x: u8,
}

#[derive(Clone, Debug, Default, unknown::SerializeDisplay, unknown::DeserializeFromStr, JsonSchema)]
#[schemars(with = "String")]
pub struct OtherSerialize(pub u8);

#[derive(Clone, Debug)]
#[unknown::rename]
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Between {
    #[serde(rename = "old")]
    pub a: u8,
}
