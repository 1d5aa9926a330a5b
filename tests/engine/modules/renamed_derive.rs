use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use kube::CustomResource as Cr;

#[derive(Cr, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ModulesRenamedDerive")]
pub struct Spec {
    pub x: u8,
}
