//! Types of most operators: all values that the schemas accept are decoded.
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Affinity, Container, EnvVar, LocalObjectReference, PodTemplateSpec, Volume};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, ObjectMeta, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "ordinary.example.com", version = "v1", kind = "K", status = "Status", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    name: String,
    enabled: bool,
    small: u8,
    #[serde(default)]
    port: u16,
    signed: i32,
    long: i64,
    ratio: f64,
    single: Option<f32>,
    letter: Option<char>,
    path: Option<PathBuf>,
    cow: Option<Cow<'static, str>>,
    shared: Option<Arc<str>>,
    boxed: Option<Box<Nested>>,
    tags: Vec<String>,
    #[serde(default)]
    set: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<String, String>,
    limits: Option<HashMap<String, i64>>,
    #[serde(default = "three")]
    replicas: i32,
    mode: Mode,
    storage: Option<Storage>,
    either: Option<Either>,
    selector: Option<LabelSelector>,
    template: Option<PodTemplateSpec>,
    #[serde(default)]
    containers: Vec<Container>,
    env: Option<Vec<EnvVar>>,
    volumes: Option<Vec<Volume>>,
    affinity: Option<Affinity>,
    secret: Option<LocalObjectReference>,
    metadata: Option<ObjectMeta>,
    target: Option<IntOrString>,
    size: Option<Quantity>,
    requests: Option<BTreeMap<String, Quantity>>,
    after: Option<Time>,
    pair: Option<[u8; 2]>,
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    values: Option<serde_json::Value>,
    #[schemars(schema_with = "anything")]
    config: Option<serde_json::Map<String, serde_json::Value>>,
    strict: Option<Strict>,
    #[serde(flatten)]
    flattened: Flattened,
    #[serde(skip)]
    skipped: Option<u32>,
    newtype: Option<Name>,
    by_size: Option<BTreeMap<Mode, String>>,
    #[serde(alias = "oldName")]
    renamed: Option<String>,
    duration: Option<Seconds>,
}

fn three() -> i32 {
    3
}

fn anything(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Nested {
    a: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    FastPath,
    Safe,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Storage {
    Disk { path: String },
    Memory {},
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Git { url: String },
    Oci { image: String },
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Strict {
    a: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Flattened {
    note: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Name(String);

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(from = "i64", into = "i64")]
struct Seconds(i64);

impl From<i64> for Seconds {
    fn from(seconds: i64) -> Self {
        Self(seconds)
    }
}

impl From<Seconds> for i64 {
    fn from(seconds: Seconds) -> Self {
        seconds.0
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    conditions: Vec<Condition>,
    observed_generation: Option<i64>,
    last_seen: Option<Time>,
}
