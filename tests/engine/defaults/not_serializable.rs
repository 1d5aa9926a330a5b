use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsNotSerializable")]
pub struct Spec {
    #[serde(default, skip_serializing)]
    pub skipped: u8,
    pub inner: Input,
}

/// schemars gives no default where the type cannot be written.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct Quiet {
    pub x: u8,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Input {
    #[serde(default)]
    pub quiet: Quiet,
    #[serde(default)]
    pub list: Vec<Quiet>,
    #[serde(default)]
    pub number: u8,
}

impl Serialize for Input {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}
