use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationLengthOfMaps")]
pub struct Spec {
    #[schemars(length(min = 1, max = 9))]
    pub map: BTreeMap<String, u8>,
}
