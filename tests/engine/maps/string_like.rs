use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "MapsStringLike")]
pub struct Spec {
    pub path: BTreeMap<std::path::PathBuf, u8>,
    pub cow: BTreeMap<std::borrow::Cow<'static, str>, u8>,
    pub boxed: BTreeMap<Box<str>, u8>,
    pub address: BTreeMap<std::net::IpAddr, u8>,
}
