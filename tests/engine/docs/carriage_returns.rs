use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DocsCarriageReturns")]
pub struct Spec {
    /// a
    ///
    /// b
    pub x: u8,
    /** block
     * two
     */
    pub y: u8,
    #[doc = r"raw
line"]
    pub w: u8,
    #[serde(default = "text")]
    pub u: String,
}

fn text() -> String {
    r#"a
b"#
    .into()
}
