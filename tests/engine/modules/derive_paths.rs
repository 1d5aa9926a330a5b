use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ModulesDerivePaths")]
pub struct Spec {
    pub inner: Inner,
}

#[derive(Clone, Debug, ::serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
pub struct Inner {
    pub x: ::std::vec::Vec<u8>,
}
