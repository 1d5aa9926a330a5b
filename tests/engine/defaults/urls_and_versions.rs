use semver::Version;
use url::Url;
use uuid::Uuid;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsUrlsAndVersions")]
pub struct Spec {
    #[serde(default = "host")]
    pub host: Url,
    #[serde(default = "without_path")]
    pub without_path: Url,
    #[serde(default = "path")]
    pub path: Url,
    #[serde(default = "address")]
    pub address: Option<Url>,
    #[serde(default = "new")]
    pub new: Version,
    #[serde(default = "parsed")]
    pub parsed: Version,
    #[serde(default = "nil")]
    pub nil: Uuid,
    #[serde(default = "fixed")]
    pub id: Uuid,
}

fn host() -> Url {
    Url::parse("https://example.com/").unwrap()
}

fn without_path() -> Url {
    Url::parse("https://example.com?a=b").unwrap()
}

fn path() -> Url {
    "http://registry.example-1.com:5000/v2/a_b?x=1".parse().expect("a URL")
}

fn address() -> Option<Url> {
    Url::parse("ws://127.0.0.1:81/").ok()
}

fn new() -> Version {
    Version::new(1, 2, 3)
}

fn parsed() -> Version {
    Version::parse("1.2.3-rc.1+build.5").unwrap()
}

fn nil() -> Uuid {
    Uuid::nil()
}

fn fixed() -> Uuid {
    Uuid::parse_str("67e55044-10b1-426f-9247-bb680e5fe0c8").unwrap()
}
