use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationOnNewtypeOfOption")]
pub struct Spec {
    pub maybe: Maybe,
    #[schemars(length(max = 2))]
    pub list: Many,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Maybe(#[schemars(length(max = 2))] pub Option<String>);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Many(pub Vec<String>);
