use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "RenameAllBySchemars")]
#[serde(rename_all = "kebab-case")]
#[schemars(rename_all = "camelCase")]
pub struct Spec {
    pub first_field: u8,
}
