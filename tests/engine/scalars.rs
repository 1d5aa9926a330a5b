use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Every scalar and the collections of std.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Scalars", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct ScalarsSpec {
    /// A boolean.
    pub flag: bool,
    pub small: i8,
    pub short: i16,
    pub int: i32,
    pub long: i64,
    pub byte: u8,
    pub port: u16,
    pub count: u32,
    pub big: u64,
    pub size: usize,
    pub ratio: f32,
    pub precise: f64,
    pub letter: char,
    pub text: String,
    pub path: std::path::PathBuf,
    pub address: std::net::IpAddr,
    pub positive: std::num::NonZeroU16,
    pub generic_positive: std::num::NonZero<u8>,
    pub maybe: Option<String>,
    pub maybe_twice: Option<Option<i32>>,
    pub boxed: Box<i32>,
    pub boxed_maybe: Box<Option<i32>>,
    pub list: Vec<String>,
    pub nested_list: Vec<Vec<Option<u8>>>,
    pub set: BTreeSet<i64>,
    pub map: BTreeMap<String, u16>,
    pub hash: HashMap<String, Vec<bool>>,
    pub array: [u8; 3],
    pub shared: std::sync::Arc<str>,
    pub r#type: String,
}
