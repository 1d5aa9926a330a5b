use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsAddresses")]
pub struct Spec {
    #[serde(default = "from_bytes")]
    pub from_bytes: SocketAddr,
    #[serde(default = "from_pair")]
    pub from_pair: SocketAddr,
    #[serde(default = "into")]
    pub into: SocketAddr,
    #[serde(default = "new")]
    pub new: SocketAddr,
    #[serde(default = "of_version")]
    pub of_version: SocketAddr,
    #[serde(default = "parsed")]
    pub parsed: SocketAddr,
    #[serde(default = "with_zero")]
    pub with_zero: std::net::Ipv6Addr,
}

fn from_bytes() -> SocketAddr {
    SocketAddr::from(([0, 0, 0, 0], 8080))
}

fn from_pair() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, PORT))
}

const PORT: u16 = 9090;

fn into() -> SocketAddr {
    ([127, 0, 0, 1], 80).into()
}

fn new() -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 443)
}

fn of_version() -> SocketAddr {
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 1))
}

fn parsed() -> SocketAddr {
    "[::0]:8443".parse().expect("an address")
}

fn with_zero() -> std::net::Ipv6Addr {
    "0:0::1".parse().unwrap()
}
