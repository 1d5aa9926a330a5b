use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ConversionsRemote")]
pub struct Spec {
    #[serde(with = "PointDef")]
    pub point: Point,
}

#[derive(Clone, Debug)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

/// The words of the stand-in.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(remote = "Point")]
pub struct PointDef {
    pub x: i32,
    /// Up and down.
    pub y: i32,
}
