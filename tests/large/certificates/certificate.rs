use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::meta::{ObjectReference, SecretKeySelector, TypedCondition};

/// Desired state of the Certificate resource.
///
/// Setting a field to its zero value is not the same as leaving it out.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "certs.example.org",
    version = "v1",
    kind = "Certificate",
    namespaced,
    status = "CertificateStatus",
    shortname = "cert",
    shortname = "certs",
    category = "cert-manager",
    doc = "A Certificate resource should be created to ensure an up to date and signed X.509 certificate is stored in the Kubernetes Secret resource named in `spec.secretName`.",
    printcolumn = r#"{"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type == \"Ready\")].status"}"#,
    printcolumn = r#"{"name":"Secret","type":"string","jsonPath":".spec.secretName"}"#,
    printcolumn = r#"{"name":"Issuer","type":"string","jsonPath":".spec.issuerRef.name","priority":1}"#
)]
#[serde(rename_all = "camelCase")]
pub struct CertificateSpec {
    /// Requested set of X509 certificate subject attributes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<X509Subject>,
    /// Requested X.509 certificate subject, represented using the LDAP "String
    /// Representation of a Distinguished Name" [1].
    ///
    /// [1]: https://datatracker.ietf.org/doc/html/rfc4514
    pub literal_subject: Option<String>,
    pub common_name: Option<String>,
    /// Requested 'duration' (i.e. lifetime) of the Certificate.
    #[schemars(with = "Option<String>")]
    pub duration: Option<kube::core::Duration>,
    #[schemars(with = "Option<String>")]
    pub renew_before: Option<kube::core::Duration>,
    #[serde(default)]
    pub dns_names: Vec<String>,
    #[serde(default)]
    pub ip_addresses: Vec<String>,
    #[serde(default, rename = "uris")]
    pub URIs: Vec<String>,
    #[serde(default)]
    pub email_addresses: Vec<String>,
    /// Name of the Secret resource that will be automatically created and
    /// managed by this Certificate resource.
    pub secret_name: String,
    pub secret_template: Option<CertificateSecretTemplate>,
    pub keystores: Option<CertificateKeystores>,
    pub issuer_ref: ObjectReference,
    #[serde(rename = "isCA", default)]
    pub is_ca: bool,
    #[serde(default = "default_usages")]
    pub usages: Vec<KeyUsage>,
    pub private_key: Option<CertificatePrivateKey>,
    pub revision_history_limit: Option<i32>,
    #[serde(default)]
    pub additional_output_formats: Vec<CertificateAdditionalOutputFormat>,
}

fn default_usages() -> Vec<KeyUsage> {
    vec![KeyUsage::DigitalSignature, KeyUsage::KeyEncipherment]
}

/// KeyUsage specifies valid usage contexts for keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
pub enum KeyUsage {
    #[serde(rename = "signing")]
    Signing,
    #[serde(rename = "digital signature")]
    DigitalSignature,
    #[serde(rename = "key encipherment")]
    KeyEncipherment,
    #[serde(rename = "server auth")]
    ServerAuth,
    #[serde(rename = "client auth")]
    ClientAuth,
    #[serde(rename = "ocsp signing")]
    OCSPSigning,
}

/// X509Subject Full X509 name specification
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct X509Subject {
    pub organizations: Vec<String>,
    pub countries: Vec<String>,
    pub organizational_units: Vec<String>,
    pub localities: Vec<String>,
    pub serial_number: String,
}

/// CertificatePrivateKey contains configuration options for private keys
/// used by the Certificate controller.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertificatePrivateKey {
    pub rotation_policy: Option<PrivateKeyRotationPolicy>,
    pub encoding: Option<PrivateKeyEncoding>,
    pub algorithm: Option<PrivateKeyAlgorithm>,
    #[schemars(range(min = 256, max = 8192))]
    pub size: Option<i32>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum PrivateKeyRotationPolicy {
    /// The key is made once.
    Never,
    /// The key is generated again with each certificate.
    Always,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum PrivateKeyEncoding {
    Pkcs1,
    Pkcs8,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum PrivateKeyAlgorithm {
    RSA,
    ECDSA,
    Ed25519,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct CertificateSecretTemplate {
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct CertificateKeystores {
    pub jks: Option<Keystore<JksProfile>>,
    pub pkcs12: Option<Keystore<Pkcs12Profile>>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Keystore<P> {
    pub create: bool,
    pub password_secret_ref: SecretKeySelector,
    pub profile: Option<P>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct JksProfile {
    pub alias: String,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Pkcs12Profile {
    LegacyRC2,
    LegacyDES,
    Modern2023,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct CertificateAdditionalOutputFormat {
    #[serde(rename = "type")]
    pub typ: CertificateOutputFormatType,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum CertificateOutputFormatType {
    DER,
    CombinedPEM,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum CertificateConditionType {
    Ready,
    Issuing,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertificateStatus {
    #[serde(default)]
    pub conditions: Vec<TypedCondition<CertificateConditionType>>,
    pub last_failure_time: Option<Time>,
    pub not_before: Option<Time>,
    pub not_after: Option<Time>,
    pub renewal_time: Option<Time>,
    pub revision: Option<i64>,
    pub next_private_key_secret_name: Option<String>,
    pub failed_issuance_attempts: Option<i64>,
}
