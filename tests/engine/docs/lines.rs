use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DocsLines")]
pub struct Spec {
    /// One line
    /// and another.
    ///
    /// A second paragraph:
    ///
    /// - a list
    ///   with an indented line
    ///
    ///     code
    pub x: u8,
    ///No space.
    pub y: u8,
    ///  Two spaces.
    pub z: u8,
    ///
    pub empty: u8,
    /// Trailing space. 
    pub trailing: u8,
}
