use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::meta::*;

macro_rules! ready_column {
    () => {
        "unused here, but real projects have such things"
    };
}

#[allow(dead_code)]
const COLUMN: &str = ready_column!();

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "certs.example.org", version = "v1", kind = "Issuer", namespaced, status = "IssuerStatus")]
pub struct IssuerSpec {
    #[serde(flatten)]
    pub config: IssuerConfig,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "certs.example.org", version = "v1", kind = "ClusterIssuer", status = "IssuerStatus")]
pub struct ClusterIssuerSpec {
    #[serde(flatten)]
    pub config: IssuerConfig,
}

/// The configuration for the issuer. Only one can be set.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum IssuerConfig {
    /// ACME configures this issuer to communicate with an RFC8555 (ACME) server.
    Acme(AcmeIssuer),
    /// CA configures this issuer to sign certificates using a signing CA keypair.
    Ca(CaIssuer),
    /// Vault configures this issuer to sign certificates using a HashiCorp Vault PKI backend.
    Vault(VaultIssuer),
    /// SelfSigned configures this issuer to 'self sign' certificates.
    SelfSigned(SelfSignedIssuer),
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcmeIssuer {
    #[schemars(email)]
    pub email: Option<String>,
    #[schemars(url)]
    pub server: String,
    #[serde(default, rename = "skipTLSVerify")]
    pub skip_tls_verify: bool,
    pub private_key_secret_ref: SecretKeySelector,
    #[serde(default)]
    pub solvers: Vec<AcmeChallengeSolver>,
    pub preferred_chain: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct AcmeChallengeSolver {
    pub selector: Option<CertificateDnsNameSelector>,
    #[serde(flatten)]
    pub challenge: AcmeChallenge,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum AcmeChallenge {
    #[serde(rename = "http01")]
    Http01(Box<Http01Solver>),
    #[serde(rename = "dns01")]
    Dns01(Dns01Solver),
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertificateDnsNameSelector {
    #[serde(flatten)]
    pub labels: LabelSelector,
    #[serde(default)]
    pub dns_names: Vec<String>,
    #[serde(default)]
    pub dns_zones: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Http01Solver {
    pub ingress_class_name: Option<String>,
    pub service_type: Option<String>,
    pub pod_template: Option<PodTemplateSpec>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Dns01Solver {
    #[serde(rename = "route53")]
    Route53 {
        region: String,
        #[serde(rename = "hostedZoneID")]
        hosted_zone_id: Option<String>,
        role: Option<String>,
    },
    #[serde(rename = "cloudflare", rename_all = "camelCase")]
    Cloudflare { email: Option<String>, api_token_secret_ref: SecretKeySelector },
    #[serde(rename = "webhook", rename_all = "camelCase")]
    Webhook {
        group_name: String,
        solver_name: String,
        #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
        config: Option<serde_json::Value>,
    },
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaIssuer {
    pub secret_name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crl_distribution_points: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "ocspServers")]
    pub ocsp: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VaultIssuer {
    pub server: String,
    pub path: String,
    pub namespace: Option<String>,
    pub auth: VaultAuth,
    /// Base64-encoded bundle of PEM CAs.
    #[schemars(extend("format" = "byte"))]
    pub ca_bundle: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum VaultAuth {
    TokenSecretRef(SecretKeySelector),
    AppRole { path: String, role_id: String, secret_ref: SecretKeySelector },
    Kubernetes { #[serde(default = "mount_path")] mount_path: String, role: String },
}

fn mount_path() -> String {
    "/v1/auth/kubernetes".into()
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SelfSignedIssuer {
    #[serde(default)]
    pub crl_distribution_points: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum IssuerConditionType {
    Ready,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct IssuerStatus {
    #[serde(default)]
    pub conditions: Vec<TypedCondition<IssuerConditionType>>,
    pub acme: Option<AcmeStatus>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcmeStatus {
    pub uri: Option<String>,
    pub last_registered_email: Option<String>,
    pub last_private_key_hash: Option<String>,
}
