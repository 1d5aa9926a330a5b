use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::SecretReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{Hostname, PortNumber, SectionName};

/// Controller that serves Gateways.
#[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(group = "edge.example.net", version = "v1", kind = "GatewayClass", plural = "gatewayclasses", shortname = "gc")]
#[serde(rename_all = "camelCase")]
pub struct GatewayClassSpec {
    /// Domain-prefixed path.
    #[schemars(length(min = 1, max = 253), pattern(r"^[a-z0-9.-]+/[A-Za-z0-9/._-]+$"))]
    pub controller_name: String,
    #[schemars(length(max = 64))]
    pub description: Option<String>,
    pub parameters_ref: Option<ParametersReference>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct ParametersReference {
    pub group: String,
    pub kind: String,
    pub name: String,
    pub namespace: Option<String>,
}

#[derive(Clone, CustomResource, Debug, Deserialize, KubeSchema, Serialize)]
#[kube(
    group = "edge.example.net",
    version = "v1",
    kind = "Gateway",
    namespaced,
    shortname = "gtw",
    category = "gateway-api",
    status = "GatewayStatus",
    printcolumn(name = "Class", type_ = "string", json_path = ".spec.gatewayClassName"),
    printcolumn(name = "Address", type_ = "string", json_path = ".status.addresses[*].value")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = ("self.listeners.all(l, self.listeners.exists_one(m, m.name == l.name))", "names are unique"),
    validation = "size(self.listeners) > 0"
)]
pub struct GatewaySpec {
    pub gateway_class_name: String,
    #[schemars(length(min = 1, max = 64))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".to_string()]))]
    pub listeners: Vec<Listener>,
    #[serde(default)]
    #[schemars(length(max = 16))]
    #[x_kube(validation = Rule::new("self.all(a, a.size() < 254)").field_path("[0]"))]
    pub addresses: Vec<String>,
    #[serde(default)]
    pub infrastructure: Infrastructure,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Listener {
    pub name: SectionName,
    pub hostname: Option<Hostname>,
    pub port: PortNumber,
    pub protocol: Protocol,
    pub tls: Option<TlsConfig>,
    #[serde(default)]
    pub allowed_routes: AllowedRoutes,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Protocol {
    /// Cleartext HTTP/1.1 and HTTP/2.
    Http,
    /// HTTP inside TLS.
    Https,
    /// TLS, whatever is inside.
    Tls,
    Tcp,
    Udp,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TlsConfig {
    #[serde(default)]
    pub mode: TlsMode,
    #[serde(default)]
    pub certificate_refs: Vec<SecretReference>,
    #[serde(default)]
    pub options: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub enum TlsMode {
    /// The session ends at the gateway.
    #[default]
    Terminate,
    /// The session goes on to the backend.
    Passthrough,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct AllowedRoutes {
    #[serde(default)]
    pub namespaces: RouteNamespaces,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct RouteNamespaces {
    #[serde(default)]
    pub from: From,
    pub selector: Option<LabelSelector>,
}

/// Has the name of a trait of the prelude.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub enum From {
    All,
    #[default]
    Same,
    Selector,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct Infrastructure {
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayStatus {
    #[serde(default)]
    pub addresses: Vec<GatewayAddress>,
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum GatewayAddress {
    Ip { ip: std::net::IpAddr },
    Name { hostname: Hostname },
}
