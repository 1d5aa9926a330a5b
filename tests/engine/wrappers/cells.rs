use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "WrappersCells")]
pub struct Spec {
    pub cell: std::cell::Cell<u8>,
    pub ref_cell: std::cell::RefCell<Option<u8>>,
}
