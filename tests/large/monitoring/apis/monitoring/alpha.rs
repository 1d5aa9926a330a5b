//! Not stable yet: routes of alerts, as trees that are two levels deep.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::v1::{self, Duration, Severity};

#[derive(CustomResource, Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[kube(group = "monitoring.rust.example", version = "v1alpha1", kind = "AlertRoute", namespaced)]
pub struct AlertRouteSpec {
    pub route: Route<Vec<Route<()>>>,
    pub receivers: Vec<Receiver>,
    #[serde(default)]
    pub mute: Vec<MuteInterval>,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Route<Children> {
    pub receiver: String,
    #[serde(default)]
    pub matchers: Vec<Matcher>,
    pub group_wait: Option<Duration>,
    #[serde(default)]
    pub r#continue: bool,
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub routes: Option<Children>,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct Matcher {
    pub name: String,
    pub value: String,
    #[serde(rename = "matchType", default)]
    pub operator: Operator,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
pub enum Operator {
    #[default]
    #[serde(rename = "=")]
    Equal,
    #[serde(rename = "!=")]
    NotEqual,
    #[serde(rename = "=~")]
    Matches,
    #[serde(rename = "!~")]
    MatchesNot,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct Receiver {
    pub name: String,
    #[serde(flatten)]
    pub integration: Integration,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Integration {
    Webhook { url: String, tls: Option<v1::SafeTls>, min_severity: Option<Severity> },
    Email { #[schemars(email)] to: String, from: Option<String> },
    Chat { channel: String, #[schemars(length(max = 4))] emoji: Option<String> },
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct MuteInterval {
    #[schemars(range(min = 1, max = 31), inner(range(min = 1, max = 31)))]
    pub days: Vec<u8>,
    #[schemars(length(min = 2, max = 2))]
    pub months: [u8; 2],
}
