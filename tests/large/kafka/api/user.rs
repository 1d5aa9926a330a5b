use super::prelude::*;

/// A principal and what it may do.
#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[kube(group = "kafka.messages.io", version = "v1beta2", kind = "KafkaUser", namespaced, shortname = "ku")]
pub struct KafkaUserSpec {
    pub authentication: Option<UserAuthentication>,
    pub authorization: Option<Authorization>,
    #[serde(default)]
    pub quotas: Quotas,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(untagged)]
pub enum UserAuthentication {
    Password { password: PasswordSource },
    Certificate { #[serde(rename = "certificateAndKey")] certificate: CertificateSource },
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasswordSource {
    pub value_from: corev1::SecretKeySelector,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertificateSource {
    pub secret_name: String,
    #[serde(default = "tls_crt")]
    pub certificate: String,
    #[serde(default = "tls_key")]
    pub key: String,
}

fn tls_crt() -> String {
    TLS_CRT.into()
}

fn tls_key() -> String {
    "tls.key".into()
}

const TLS_CRT: &str = "tls.crt";

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
pub struct Authorization {
    pub acls: Vec<Acl>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
pub struct Acl {
    #[serde(rename = "type", default)]
    pub effect: Effect,
    pub resource: AclResource,
    #[serde(default = "any")]
    pub host: String,
    pub operations: Vec<Operation>,
}

fn any() -> String {
    '*'.to_string()
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    #[default]
    Allow,
    Deny,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AclResource {
    #[serde(rename = "type")]
    pub resource_type: ResourceType,
    pub name: Option<String>,
    #[serde(default)]
    pub pattern_type: PatternType,
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ResourceType {
    Topic,
    Group,
    Cluster,
    TransactionalId,
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PatternType {
    Literal,
    Prefix,
}

impl Default for PatternType {
    fn default() -> Self {
        PatternType::Literal
    }
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug, JsonSchema)]
pub enum Operation {
    Read,
    Write,
    Create,
    Delete,
    Alter,
    Describe,
    ClusterAction,
    AlterConfigs,
    DescribeConfigs,
    IdempotentWrite,
    All,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Quotas {
    pub producer_byte_rate: Option<i64>,
    pub consumer_byte_rate: Option<i64>,
    #[schemars(range(min = 0, max = 100))]
    pub request_percentage: Option<i32>,
    pub controller_mutation_rate: Option<f64>,
}
