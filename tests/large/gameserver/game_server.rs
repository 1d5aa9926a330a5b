use k8s_openapi::api::core::v1::PodTemplateSpec;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

pub(super) mod port;
pub use port::{Port, PortPolicy};

/// The server of one session.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(
    group = "play.example.gg",
    version = "v1",
    kind = "GameServer",
    namespaced,
    status = "GameServerStatus",
    shortname = "gs",
    printcolumn = r#"{"name":"State","type":"string","jsonPath":".status.state"}"#,
    printcolumn = r#"{"name":"Address","type":"string","jsonPath":".status.address"}"#,
    printcolumn = r#"{"name":"Port","type":"string","jsonPath":".status.ports[0].port"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct GameServerSpec {
    /// Name of the game server's container, if there are several.
    #[serde(default)]
    pub container: String,
    #[serde(default)]
    pub ports: Vec<Port>,
    #[serde(default)]
    pub health: Health,
    #[serde(default)]
    pub sdk_server: SdkServer,
    #[serde(default)]
    pub scheduling: Scheduling,
    pub counters: Option<HashMap<String, Counter>>,
    pub lists: Option<HashMap<String, List>>,
    #[serde(default)]
    pub eviction: Option<Eviction>,
    pub template: PodTemplateSpec,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[serde(rename_all = "camelCase", default = "Health::usual")]
pub struct Health {
    pub disabled: bool,
    #[schemars(range(min = 0, max = 2147483648u32))]
    pub period_seconds: i32,
    pub failure_threshold: i32,
    pub initial_delay_seconds: i32,
}

impl Health {
    pub fn usual() -> Health {
        Health { disabled: false, period_seconds: 5, failure_threshold: 5, initial_delay_seconds: 5 }
    }
}

impl Default for Health {
    fn default() -> Self {
        Health::usual()
    }
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[serde(default)]
pub struct SdkServer {
    #[serde(rename = "logLevel")]
    pub level: LogLevel,
    #[serde(rename = "grpcPort")]
    pub grpc: u16,
    #[serde(rename = "httpPort")]
    pub http: u16,
}

impl Default for SdkServer {
    fn default() -> Self {
        Self { level: LogLevel::Info, grpc: port::FIRST, http: port::FIRST + 1 }
    }
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Copy)]
pub enum LogLevel {
    Error,
    Info,
    Debug,
    Trace,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Copy, Default)]
pub enum Scheduling {
    /// As close as they go.
    #[default]
    Packed,
    /// All over the cluster.
    Distributed,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
pub struct Counter {
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub count: i64,
    #[serde(default = "Counter::capacity")]
    #[schemars(range(min = 0))]
    pub capacity: i64,
}

impl Counter {
    fn capacity() -> i64 {
        1_000
    }
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
pub struct List {
    #[schemars(range(min = 0, max = 1000))]
    pub capacity: i64,
    #[schemars(length(max = 1000))]
    pub values: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
pub struct Eviction {
    pub safe: Safe,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
pub enum Safe {
    Always,
    OnUpgrade,
    Never,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct GameServerStatus {
    pub state: State,
    #[serde(default)]
    pub ports: Vec<port::StatusPort>,
    #[serde(default)]
    pub address: String,
    pub reserved_until: Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::Time>,
    #[serde(flatten)]
    pub tracked: Tracked,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
pub struct Tracked {
    pub counters: Option<HashMap<String, Counter>>,
    pub lists: Option<HashMap<String, List>>,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
pub enum State {
    PortAllocation,
    Creating,
    Starting,
    Scheduled,
    RequestReady,
    Ready,
    Allocated,
    Reserved,
    Unhealthy,
    Shutdown,
    Error,
}
