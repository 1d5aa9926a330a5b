use std::collections::{BTreeMap, HashMap};

use k8s_openapi::api::core::v1::ServiceSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Settings without a schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Config(pub BTreeMap<String, Value>);

impl JsonSchema for Config {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        stringify!(Config).into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
    }
}

/// Of an object that the operator makes.
pub fn any_metadata(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct HttpConfig {
    #[serde(default)]
    pub service: ServiceTemplate,
    #[serde(default)]
    pub tls: TlsOptions,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ServiceTemplate {
    #[schemars(schema_with = "any_metadata")]
    #[serde(default)]
    pub metadata: Option<ObjectMeta>,
    pub spec: Option<ServiceSpec>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TlsOptions {
    pub self_signed_certificate: Option<SelfSigned>,
    #[serde(default)]
    pub certificate: SecretRef,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SelfSigned {
    #[serde(default)]
    pub subject_alt_names: Vec<SubjectAlternativeName>,
    #[serde(default)]
    pub disabled: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SubjectAlternativeName {
    Dns { dns: String },
    Ip { ip: String },
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretRef {
    #[serde(default)]
    pub secret_name: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretSource {
    pub secret_name: String,
    #[serde(default)]
    pub entries: Vec<KeyToPath>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeyToPath {
    pub key: String,
    pub path: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    Green,
    Yellow,
    Red,
    #[default]
    Unknown,
}

pub type Associations = HashMap<String, AssociationStatus>;

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub enum AssociationStatus {
    Pending,
    Established,
    Failed,
}
