use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{LocalObjectReference, SecretKeySelector};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[kube(
    group = "iam.example.id",
    version = "v1beta1",
    kind = "OAuthClient",
    plural = "oauthclients",
    namespaced,
    no_spec,
    status = "ClientStatus",
    shortname = "oc",
    selectable = ".realm.name",
    printcolumn = r#"{"name":"Realm","type":"string","jsonPath":".realm.name"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct OAuthClientFields {
    pub realm: LocalObjectReference,
    #[serde(default)]
    pub display_name: String,
    #[schemars(length(min = 1), inner(url))]
    pub redirect_uris: Vec<String>,
    #[serde(default = "OAuthClientFields::code")]
    pub grant_types: BTreeSet<GrantType>,
    #[serde(flatten)]
    pub authentication: Authentication,
    #[serde(default)]
    pub scopes: BTreeMap<String, Scope>,
    #[serde(default)]
    pub token_lifetimes: Lifetimes,
}

impl OAuthClientFields {
    fn code() -> BTreeSet<GrantType> {
        BTreeSet::new()
    }
}

#[derive(Deserialize, Serialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantType {
    AuthorizationCode,
    ClientCredentials,
    RefreshToken,
    #[serde(rename = "urn:ietf:params:oauth:grant-type:device_code")]
    DeviceCode,
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Authentication {
    /// A browser keeps no secret.
    Public { #[serde(default)] pkce: Pkce },
    Secret(SecretKeySelector),
    #[serde(rename = "privateKeyJWT")]
    PrivateKeyJwt { #[serde(rename = "jwksURI")] jwks_uri: String },
}

#[derive(Deserialize, Serialize, Clone, Copy, Debug, Default, JsonSchema)]
pub enum Pkce {
    S256,
    #[default]
    #[serde(rename = "plain")]
    Plain,
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
pub struct Scope {
    pub claims: Option<Vec<String>>,
    #[serde(default)]
    pub consent: bool,
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[serde(default)]
pub struct Lifetimes {
    pub access: Seconds,
    pub refresh: Seconds,
    pub code: Seconds,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self { access: Seconds(300), refresh: Seconds(24 * 3600), code: Seconds(60) }
    }
}

#[derive(Deserialize, Serialize, Clone, Copy, Debug, JsonSchema)]
pub struct Seconds(#[schemars(range(min = 1))] u32);

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientStatus {
    #[serde(rename = "clientID")]
    pub client_id: Option<String>,
    pub last_used: Option<chrono::DateTime<chrono::Utc>>,
}
