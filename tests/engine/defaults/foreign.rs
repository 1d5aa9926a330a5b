use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsForeign")]
pub struct Spec {
    #[serde(default)]
    pub value: serde_json::Value,
    #[serde(default)]
    pub map: serde_json::Map<String, serde_json::Value>,
    #[serde(default)]
    pub index: indexmap::IndexMap<String, u8>,
    #[serde(default)]
    pub id: uuid::Uuid,
    #[serde(default)]
    pub text: smol_str::SmolStr,
    #[serde(default)]
    pub selector: k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector,
}
