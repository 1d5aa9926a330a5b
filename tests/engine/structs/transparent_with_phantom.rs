use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "StructsTransparentWithPhantom")]
pub struct Spec {
    pub typed: Typed<u8>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Typed<T> {
    pub name: String,
    #[serde(skip)]
    pub marker: std::marker::PhantomData<T>,
}
