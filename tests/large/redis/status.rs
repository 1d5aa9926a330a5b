use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedisStatus {
    pub replicas: Option<u8>,
    pub selector: Option<String>,
    pub primary: Option<String>,
    #[serde(default)]
    pub nodes: Vec<Node>,
    /// Set by the operator of v0.
    #[schemars(skip)]
    #[serde(default)]
    pub legacy: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Node {
    pub pod: String,
    pub role: Role,
    pub lag: Option<f64>,
    pub slots: Option<Vec<[u16; 2]>>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all(serialize = "UPPERCASE", deserialize = "lowercase"))]
pub enum Role {
    Primary,
    Replica,
}
