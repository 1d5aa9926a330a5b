//! Functions and types of other crates that parse a text, behind the schema of a text.
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::{DisplayFromStr, DurationSeconds, serde_as};

#[serde_as]
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "adapters.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[serde_as(as = "DisplayFromStr")]
    number: u32,
    #[serde_as(as = "Option<DisplayFromStr>")]
    optional: Option<u32>,
    #[serde_as(as = "Option<DisplayFromStr>")]
    #[schemars(with = "Option<String>")]
    address: Option<Ipv4Addr>,
    #[serde_as(as = "Vec<DisplayFromStr>")]
    list: Vec<bool>,
    #[serde_as(as = "BTreeMap<DisplayFromStr, _>")]
    #[schemars(with = "BTreeMap<String, String>")]
    map: BTreeMap<u16, String>,
    #[serde_as(as = "Option<DurationSeconds<u64>>")]
    #[schemars(with = "Option<i64>")]
    seconds: Option<Duration>,
    #[serde(with = "humantime_serde", default)]
    #[schemars(with = "Option<String>")]
    interval: Option<Duration>,
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    timeout: Duration,
    #[serde(with = "humantime_serde")]
    #[schemars(with = "Option<String>")]
    missing: Option<Duration>,
    #[schemars(with = "Option<String>")]
    network: Option<ipnet::IpNet>,
    #[schemars(with = "Vec<String>")]
    networks: Vec<ipnet::Ipv4Net>,
    #[serde(with = "chrono::serde::ts_seconds_option", default)]
    #[schemars(with = "Option<i64>")]
    at: Option<chrono::DateTime<chrono::Utc>>,
    #[serde_as(as = "Option<DisplayFromStr>")]
    text: Option<String>,
    #[serde_as(deserialize_as = "serde_with::DefaultOnNull")]
    #[schemars(with = "Option<String>")]
    #[serde(default)]
    null: String,
}
