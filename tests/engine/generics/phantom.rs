use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "GenericsPhantom")]
pub struct Spec {
    pub value: Tagged<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Tagged<T> {
    pub id: u8,
    #[serde(skip)]
    pub marker: std::marker::PhantomData<T>,
}
