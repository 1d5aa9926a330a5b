use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! kind {
    ($name:ident) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "test.example.com", version = "v1", kind = "Made")]
        pub struct $name {}
    };
}

kind! {
    MadeSpec
}

wrapped! {
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Wrapped")]
    pub struct WrappedSpec {}
}

#[attributes::changed]
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Changed")]
pub struct ChangedSpec {
    pub x: u8,
}
