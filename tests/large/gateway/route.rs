use std::num::NonZeroU16;

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::{CustomResource, CustomResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{self, *};

pub fn all() -> [super::Crd; 2] {
    [HTTPRoute::crd(), TcpRoute::crd()]
}

#[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "edge.example.net",
    version = "v1",
    kind = "HTTPRoute",
    namespaced,
    singular = "httproute",
    plural = "httproutes"
)]
#[serde(rename_all = "camelCase")]
pub struct HttpRouteSpec {
    #[schemars(length(max = 32))]
    pub parent_refs: Vec<ParentRef>,
    #[serde(default)]
    pub hostnames: std::collections::BTreeSet<Hostname>,
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub rules: Vec<HttpRule>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpRule {
    #[serde(default)]
    pub matches: Vec<HttpMatch>,
    #[serde(default)]
    pub filters: Vec<Filter>,
    #[serde(default)]
    pub backend_refs: Vec<common::BackendRef>,
    pub timeouts: Option<Timeouts>,
    pub retry: Option<Box<Retry>>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpMatch {
    #[serde(default)]
    pub path: PathMatch,
    #[serde(default)]
    pub headers: Headers,
    #[serde(default)]
    pub query_params: Headers,
    pub method: Option<Method>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct PathMatch {
    #[serde(rename = "type")]
    pub kind: PathMatchType,
    #[schemars(length(max = 1024))]
    pub value: String,
}

impl Default for PathMatch {
    fn default() -> Self {
        Self { kind: PathMatchType::PathPrefix, value: "/".to_owned() }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
pub enum PathMatchType {
    Exact,
    PathPrefix,
    RegularExpression,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Delete,
    Connect,
    Options,
    Trace,
    Patch,
}

/// Change of a request on its way.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Filter {
    /// Headers of the request are changed.
    RequestHeaderModifier(HeaderModifier),
    /// Headers of the response are changed.
    ResponseHeaderModifier(HeaderModifier),
    /// The client is sent elsewhere.
    RequestRedirect {
        scheme: Option<Scheme>,
        hostname: Option<Hostname>,
        port: Option<NonZeroU16>,
        #[serde(default = "found")]
        status_code: u16,
    },
    /// A copy of the request goes elsewhere, too.
    RequestMirror { backend_ref: BackendRef, percent: Option<IntOrString> },
}

fn found() -> u16 {
    302
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    Http,
    Https,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct HeaderModifier {
    pub set: Vec<Header>,
    pub add: Vec<Header>,
    pub remove: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Header {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Timeouts {
    pub request: Option<GoDuration>,
    pub backend_request: Option<GoDuration>,
}

/// As Go writes it, up to milliseconds.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[schemars(extend("format" = "duration"))]
pub struct GoDuration(#[schemars(pattern(r"^([0-9]{1,5}(h|m|s|ms)){1,4}$"))] pub String);

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Retry {
    #[schemars(inner(range(min = 400, max = 599)))]
    pub codes: Vec<u16>,
    pub attempts: Option<u8>,
    pub backoff: Option<GoDuration>,
}

/// A route for whatever speaks TCP.
#[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(group = "edge.example.net", version = "v1alpha2", kind = "TCPRoute", root = "TcpRoute", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct TcpRouteSpec {
    pub parent_refs: Vec<ParentRef>,
    #[schemars(length(equal = 1))]
    pub rules: Vec<TcpRule>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TcpRule {
    pub backend_refs: Vec<BackendRef>,
}
