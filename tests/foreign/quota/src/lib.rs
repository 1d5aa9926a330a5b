//! A vendored dependency.

extern crate self as quota;
extern crate serde as ser;

use schemars::JsonSchema;
use ser::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Quota<T = u8> {
    /// At most.
    #[serde(default = "quota::most")]
    pub most: u32,
    pub inner: T,
    #[cfg(feature = "limits")]
    pub limits: std::collections::BTreeMap<String, crate::Limit>,
}

pub fn most() -> u32 {
    MOST
}

const MOST: u32 = 8;

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Limit {
    Soft { soft: i64 },
    Hard { hard: i64 },
}
