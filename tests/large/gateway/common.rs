use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A port number, 1 to 65535.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PortNumber(#[schemars(range(min = 1, max = 65535))] pub i32);

/// A fully qualified domain name; a wildcard may be its first label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Hostname(
    #[schemars(length(min = 1, max = 253), regex(pattern = r"^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"))]
    String,
);

impl Hostname {
    pub fn is_wildcard(&self) -> bool {
        self.0.starts_with("*.")
    }
}

pub type SectionName = String;
pub type Headers = Vec<HeaderMatch>;

#[derive(Clone, Debug, Serialize, Deserialize, KubeSchema)]
#[x_kube(validation = Rule::new("self.kind != 'Service' || has(self.port)").message("a Service needs a port"))]
pub struct BackendRef {
    #[serde(default)]
    #[schemars(length(max = 253))]
    pub group: String,
    #[serde(default = "service")]
    pub kind: String,
    pub name: String,
    pub namespace: Option<String>,
    pub port: Option<PortNumber>,
    #[schemars(range(min = 0, max = 1_000_000))]
    #[serde(default = "one")]
    pub weight: i32,
}

fn service() -> String {
    "Service".to_string()
}

fn one() -> i32 {
    1
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ParentRef {
    pub name: String,
    pub namespace: Option<String>,
    #[serde(rename = "sectionName")]
    pub section: Option<SectionName>,
    pub port: Option<PortNumber>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HeaderMatch {
    #[serde(default, rename = "type")]
    pub kind: MatchType,
    #[schemars(regex(pattern = r"^[A-Za-z0-9!#$%&'*+\-.^_\x60|~]+$"))]
    pub name: String,
    #[schemars(length(max = 4096))]
    pub value: String,
}

/// Comparison of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MatchType {
    /// Letter by letter.
    #[default]
    Exact,
    /// As a regular expression of RE2.
    RegularExpression,
}
