use std::borrow::Cow;
use std::net::IpAddr;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// An address and the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cidr {
    address: IpAddr,
    prefix: u8,
}

impl FromStr for Cidr {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, prefix) = text.split_once('/').ok_or("no `/`")?;
        let address: IpAddr = address.parse().map_err(|error| format!("{address}: {error}"))?;
        let prefix: u8 = prefix.parse().map_err(|error| format!("{prefix}: {error}"))?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        if prefix > most { Err(format!("{prefix} > {most}")) } else { Ok(Self { address, prefix }) }
    }
}

impl TryFrom<String> for Cidr {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Cidr> for String {
    fn from(cidr: Cidr) -> Self {
        format!("{}/{}", cidr.address, cidr.prefix)
    }
}

impl JsonSchema for Cidr {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("CIDR")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "An address and the length of its prefix, such as `10.0.0.0/8`.",
            "maxLength": 43,
            "pattern": "^[0-9a-fA-F:.]+/[0-9]{1,3}$",
        })
    }
}

/// A key of Curve25519, as base64.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-kubernetes-validations" = [{ "rule": "self.size() == 44", "message": "not a key" }]))]
pub struct PublicKey(#[schemars(length(equal = 44), regex(pattern = "^[A-Za-z0-9+/]{43}=$"))] String);

/// `host:port`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Endpoint {
    pub host: Host,
    #[serde(default = "wireguard")]
    pub port: u16,
}

const WIREGUARD: u16 = 51_820;

pub const fn wireguard() -> u16 {
    WIREGUARD
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    Name(String),
    Address(IpAddr),
}
