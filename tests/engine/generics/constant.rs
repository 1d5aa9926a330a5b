use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "GenericsConstant")]
pub struct Spec {
    pub four: List<4>,
    pub named: List<LENGTH>,
    pub expression: List<{ LENGTH + 1 }>,
    pub defaulted: List,
}

const LENGTH: usize = 3;

#[derive(Clone, Debug, JsonSchema)]
pub struct List<const N: usize = 2> {
    #[schemars(length(max = N))]
    pub list: Vec<u8>,
}

impl<const N: usize> Serialize for List<N> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
    }
}

impl<'de, const N: usize> Deserialize<'de> for List<N> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { list: Vec::deserialize(deserializer)?, })
    }
}
