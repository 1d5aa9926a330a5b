use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsBoundParameter")]
pub struct Spec {
    pub one: Outer<u8>,
    pub two: Where<u8>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(bound = "")]
pub struct Outer<T: Default + Serialize + Clone + for<'a> Deserialize<'a>> {
    #[serde(default)]
    pub inner: T,
    #[serde(default)]
    pub list: Vec<T>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(bound = "")]
pub struct Where<T>
where
    T: Default + Serialize + serde::de::DeserializeOwned,
{
    #[serde(default)]
    pub inner: T,
}
