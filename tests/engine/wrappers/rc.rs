use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "WrappersRc")]
pub struct Spec {
    pub value: Rc<String>,
    pub maybe: Rc<Option<String>>,
}
