use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "GenericsSameTypeTwice")]
pub struct Spec {
    pub a: Outer<first::Inner>,
    pub b: Outer<second::Inner>,
    pub c: Outer<Alias>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Outer<T> {
    pub value: T,
}

pub type Alias = Vec<first::Inner>;

mod first {
    #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    pub struct Inner {
        pub x: u8,
    }
}

mod second {
    #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    pub struct Inner {
        pub y: String,
    }
}
