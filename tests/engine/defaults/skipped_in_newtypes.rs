use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsSkippedInNewtypes")]
pub struct Spec {
    #[serde(default)]
    pub skipped: Skipped,
    #[serde(default)]
    pub empty: Empty,
    #[serde(default = "unit")]
    pub unit: Variant,
    #[serde(default = "none")]
    pub none: Variant,
    #[serde(default = "tuple")]
    pub tuple: Variant,
    #[serde(default = "tagged")]
    pub tagged: Tagged,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Skipped(#[serde(skip)] u8);

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Empty(#[serde(skip_serializing_if = "Vec::is_empty")] Vec<u8>);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Variant {
    A(#[serde(skip)] u8),
    B(#[serde(skip_serializing_if = "Option::is_none", default)] Option<u8>),
    C(u8, #[serde(skip)] u8),
}

fn unit() -> Variant {
    Variant::A(5)
}

fn none() -> Variant {
    Variant::B(None)
}

fn tuple() -> Variant {
    Variant::C(1, 2)
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type")]
pub enum Tagged {
    A(Inner),
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    #[serde(rename = "type")]
    pub number: u8,
}

/// The field of the same name replaces the tag.
fn tagged() -> Tagged {
    Tagged::A(Inner { number: 4 })
}
