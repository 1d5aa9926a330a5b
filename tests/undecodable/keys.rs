//! Keys of maps: the schema takes any text.
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "keys.example.com", version = "v1", kind = "K")]
pub struct Spec {
    address: Option<HashMap<Ipv4Addr, String>>,
    any_address: Option<BTreeMap<IpAddr, String>>,
    letter: Option<BTreeMap<char, String>>,
    flag: Option<BTreeMap<bool, String>>,
    #[schemars(with = "BTreeMap<String, String>")]
    #[serde(default)]
    port: BTreeMap<u16, String>,
    #[schemars(with = "BTreeMap<String, i32>")]
    #[serde(default)]
    tier: BTreeMap<Tier, i32>,
    id: Option<BTreeMap<uuid::Uuid, String>>,
    newtype: Option<BTreeMap<Name, String>>,
    nested: Option<Vec<BTreeMap<Ipv4Addr, String>>>,
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self.all(k, k.matches('^[0-9]$'))"}]), with = "BTreeMap<String, String>")]
    #[serde(default)]
    ruled: BTreeMap<u8, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
enum Tier {
    Small,
    Large,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
struct Name(String);
