use std::net::{Ipv4Addr, Ipv6Addr};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::zone::shared::{self, Ttl as TimeToLive};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "names.example.com", version = "v1", kind = "RecordSet", namespaced, shortname = "rr")]
pub struct RecordSetSpec {
    pub zone: ZoneRef,
    /// `@` is the zone itself.
    #[serde(default = "at")]
    pub name: String,
    #[serde(default)]
    pub ttl: TimeToLive,
    #[serde(flatten)]
    pub data: Data,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<shared::Provider>,
}

fn at() -> String {
    '@'.into()
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ZoneRef {
    pub name: String,
}

/// One type of records; its name is the key.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub enum Data {
    A(#[schemars(length(min = 1))] Vec<Ipv4Addr>),
    #[serde(rename = "AAAA")]
    Aaaa(#[schemars(length(min = 1))] Vec<Ipv6Addr>),
    #[serde(rename = "CNAME")]
    Cname(String),
    #[serde(rename = "MX")]
    Mx(Vec<MailExchange>),
    #[serde(rename = "TXT")]
    Txt(Vec<Text>),
    #[serde(rename = "SRV")]
    Srv(Vec<Service>),
    #[serde(rename = "CAA")]
    Caa {
        #[serde(default)]
        critical: bool,
        tag: CaaTag,
        value: String,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MailExchange {
    pub preference: u16,
    pub exchange: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Text(#[schemars(length(max = 255))] pub String);

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    pub priority: u16,
    pub weight: u16,
    pub port: u16,
    pub target: String,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CaaTag {
    Issue,
    IssueWild,
    Iodef,
}
