//! `ip` is no format of the API server, and its `ipv4` has others in it.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "addresses.example.com", version = "v1", kind = "K")]
pub struct Spec {
    a: Option<IpAddr>,
    b: Option<Ipv4Addr>,
    c: Option<Ipv6Addr>,
    d: Option<SocketAddr>,
    e: Option<SocketAddrV4>,
    f: Option<url::Url>,
    g: Option<uuid::Uuid>,
    h: Option<semver::Version>,
    #[schemars(with = "Option<String>")]
    i: Option<Ipv6Addr>,
}
