use std::collections::BTreeMap;
use std::marker::PhantomData;

use chrono::{DateTime, Utc};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fields of every managed resource beside its parameters.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Managed<P> {
    pub for_provider: P,
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    #[serde(default = "default_config")]
    pub provider_config_ref: Reference<ProviderConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_connection_secret_to_ref: Option<SecretReference>,
    #[serde(default)]
    #[schemars(!default, extend("default" = ["*"]))]
    pub management_policies: Vec<Action>,
}

fn default_config() -> Reference<ProviderConfig> {
    Reference { name: "default".into(), policy: None, kind: PhantomData }
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default)]
pub enum DeletionPolicy {
    Orphan,
    #[default]
    Delete,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    Observe,
    Create,
    Update,
    Delete,
    LateInitialize,
    #[serde(rename = "*")]
    All,
}

/// A reference to an object of the kind `K`.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(bound = "")]
#[schemars(bound = "")]
pub struct Reference<K> {
    #[schemars(length(min = 1))]
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    #[serde(skip)]
    pub kind: PhantomData<K>,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
pub struct Policy {
    #[serde(default)]
    pub resolution: Resolution,
    pub resolve: Option<Resolve>,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default)]
pub enum Resolution {
    #[default]
    Required,
    Optional,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug)]
pub enum Resolve {
    Always,
    IfNotPresent,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
pub struct SecretReference {
    pub name: String,
    pub namespace: String,
}

/// Status of every managed resource beside the observed state.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[serde(rename_all = "camelCase")]
pub struct Observed<O: Default = Nothing> {
    #[serde(default)]
    pub at_provider: O,
    #[serde(default)]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
pub struct Nothing {}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    pub r#type: String,
    pub status: String,
    pub reason: String,
    pub last_transition_time: DateTime<Utc>,
    pub message: Option<String>,
}

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "cloud.example.xp", version = "v1beta1", kind = "ProviderConfig", category = "cloud")]
pub struct ProviderConfigSpec {
    pub credentials: Credentials,
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Credentials {
    pub source: Source,
    pub secret_ref: Option<k8s_openapi::api::core::v1::SecretReference>,
    pub env: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug)]
pub enum Source {
    None,
    Secret,
    InjectedIdentity,
    Environment,
    Filesystem,
}
