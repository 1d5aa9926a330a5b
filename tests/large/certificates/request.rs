use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::certificate::KeyUsage;
use super::meta::{ObjectReference, TypedCondition};

/// Bytes, as base64.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Pem(String);

impl JsonSchema for Pem {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pem".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "byte", "description": "PEM, as base64" })
    }
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "certs.example.org",
    version = "v1",
    kind = "CertificateRequest",
    singular = "certificaterequest",
    namespaced,
    status = "CertificateRequestStatus",
    shortname = "cr",
    selectable = ".spec.issuerRef.name"
)]
#[serde(rename_all = "camelCase")]
pub struct CertificateRequestSpec {
    /// Requested 'duration' (i.e. lifetime) of the Certificate.
    pub duration: Option<kube::core::Duration>,
    pub issuer_ref: ObjectReference,
    pub request: Pem,
    #[serde(default, rename = "isCA", skip_serializing_if = "std::ops::Not::not")]
    pub is_ca: bool,
    #[serde(default)]
    pub usages: std::collections::BTreeSet<KeyUsage>,
    pub username: Option<String>,
    #[serde(default)]
    pub extra: std::collections::BTreeMap<String, Vec<String>>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum RequestConditionType {
    Ready,
    InvalidRequest,
    Approved,
    Denied,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertificateRequestStatus {
    #[serde(default)]
    pub conditions: Vec<TypedCondition<RequestConditionType>>,
    pub certificate: Option<Pem>,
    pub ca: Option<Pem>,
    pub failure_time: Option<Time>,
}
