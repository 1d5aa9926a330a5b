use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const FIRST: u16 = 9357;

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct Port {
    #[serde(default = "super::port::default_name")]
    pub name: String,
    #[serde(default)]
    pub port_policy: PortPolicy,
    #[serde(default = "default_range")]
    pub range: String,
    pub container: Option<String>,
    #[schemars(range(min = 1, max = "u16::MAX"))]
    pub container_port: Option<u16>,
    pub host_port: Option<u16>,
    #[serde(default)]
    pub protocol: Protocol,
}

pub(super) fn default_name() -> String {
    "default".to_string()
}

fn default_range() -> String {
    default_name_str().to_string()
}

const fn default_name_str() -> &'static str {
    "default"
}


#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Copy, Default)]
pub enum PortPolicy {
    #[default]
    Dynamic,
    Static,
    Passthrough,
    None,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Copy, Default)]
#[serde(rename_all = "UPPERCASE")]
pub enum Protocol {
    #[default]
    Udp,
    Tcp,
    #[serde(rename = "TCPUDP")]
    Both,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
pub struct StatusPort {
    pub name: String,
    pub port: i32,
}
