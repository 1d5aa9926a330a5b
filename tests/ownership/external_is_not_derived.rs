kind Widget acme.io
#[derive(kube::CustomResource, Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[kube(group = "cert-manager.io", version = "v1", kind = "Certificate")]
pub struct CertificateSpec {
    pub usages: Missing,
}
