use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ForeignArrayvec")]
pub struct Spec {
    pub list: arrayvec::ArrayVec<u8, 4>,
    pub text: arrayvec::ArrayString<16>,
}
