use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Typo", namespaecd)]
pub struct TypoSpec {
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", kind = "Versionless")]
pub struct VersionlessSpec {
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Same")]
pub struct Same {
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Column")]
#[kube(printcolumn(name = "X", typ = "string", json_path = ".spec.x"))]
pub struct ColumnSpec {
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Y")]
pub struct YSpec {
    #[serde(renam = "x")]
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Holder")]
pub struct HolderSpec {
    pub choice: Choice,
}

#[derive(Clone, Debug, Deserialize, Serialize, kube::KubeSchema)]
pub enum Choice {
    A,
    B,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "My-Widget")]
pub struct Unnamed1Spec {
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "")]
pub struct Unnamed2Spec {
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "1W")]
pub struct Unnamed3Spec {
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "fn")]
pub struct Unnamed4Spec {
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Self")]
pub struct Unnamed5Spec {
    pub x: u8,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "r#fn")]
pub struct Unnamed6Spec {
    pub x: u8,
}
