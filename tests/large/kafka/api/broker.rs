use super::prelude::*;

/// `server.properties`, as strings, numbers and booleans; the keys that the operator sets are refused.
pub fn free_form(_generator: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
    })
}

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[kube(
    group = "kafka.messages.io",
    version = "v1beta2",
    kind = "Kafka",
    plural = "kafkas",
    singular = "kafka",
    namespaced,
    shortname = "k",
    category = "messages",
    status = KafkaStatus,
    annotation("api-approved.kubernetes.io", "unapproved, see the project's site"),
    label("app.kubernetes.io/part-of", "messages"),
    printcolumn = r#"{"name":"Desired brokers", "type":"integer", "jsonPath":".spec.kafka.replicas", "description":"The desired number of brokers"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct KafkaSpec {
    pub kafka: Brokers,
    #[serde(default)]
    pub entity_operator: EntityOperator,
    #[serde(default)]
    pub cluster_ca: CertificateAuthority,
    #[serde(default)]
    pub clients_ca: CertificateAuthority,
    #[serde(default)]
    pub maintenance_time_windows: Vec<String>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Brokers {
    #[schemars(range(min = 1))]
    pub replicas: i32,
    #[serde(default = "Brokers::version")]
    pub version: String,
    #[schemars(length(min = 1), inner(length(max = 1)))]
    pub listeners: Vec<Listener>,
    #[serde(default)]
    #[schemars(schema_with = "free_form")]
    pub config: serde_json::Map<String, serde_json::Value>,
    pub storage: Storage,
    pub rack: Option<Rack>,
    #[serde(default)]
    pub jvm_options: JvmOptions,
    pub logging: Option<Logging>,
    #[serde(default)]
    pub resources: corev1::ResourceRequirements,
    #[serde(default)]
    pub template: PodOverrides,
}

impl Brokers {
    const LATEST: &'static str = "4.1.0";

    pub fn version() -> String {
        Self::LATEST.to_string()
    }
}

/// Storage of logs.
#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Storage {
    /// Lost with the Pod.
    Ephemeral { size_limit: Option<String> },
    /// One claim a broker.
    PersistentClaim(PersistentClaim),
    /// Several claims a broker.
    Jbod { volumes: Vec<Volume> },
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersistentClaim {
    pub size: String,
    pub class: Option<String>,
    #[serde(default)]
    pub delete_claim: bool,
    #[serde(default)]
    pub selector: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
pub struct Volume {
    #[schemars(range(min = 0))]
    pub id: i32,
    #[serde(flatten)]
    pub claim: PersistentClaim,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rack {
    #[schemars(example = &"topology.kubernetes.io/zone")]
    pub topology_key: String,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
pub struct JvmOptions {
    #[serde(rename = "-Xmx", skip_serializing_if = "Option::is_none")]
    #[schemars(pattern("^[0-9]+[mMgG]?$"))]
    pub xmx: Option<String>,
    #[serde(rename = "-Xms", skip_serializing_if = "Option::is_none")]
    #[schemars(pattern("^[0-9]+[mMgG]?$"))]
    pub xms: Option<String>,
    #[serde(rename = "-XX", default)]
    pub xx: HashMap<String, String>,
    #[serde(default, rename = "gcLoggingEnabled")]
    pub gc_logging: bool,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Logging {
    Inline { loggers: BTreeMap<String, String> },
    External { value_from: corev1::ConfigMapKeySelector },
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PodOverrides {
    pub metadata: ExtraMetadata,
    pub image_pull_secrets: Vec<corev1::LocalObjectReference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context: Option<corev1::PodSecurityContext>,
    pub termination_grace_period_seconds: Option<i64>,
    pub affinity: Option<corev1::Affinity>,
    pub host_aliases: Vec<corev1::HostAlias>,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
pub struct ExtraMetadata {
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntityOperator {
    #[serde(default)]
    pub topic_operator: Option<EntityReconciler>,
    #[serde(default)]
    pub user_operator: Option<EntityReconciler>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntityReconciler {
    pub watched_namespace: Option<String>,
    #[serde(default = "two_minutes")]
    pub reconciliation_interval_ms: i64,
}

const fn two_minutes() -> i64 {
    2 * 60 * 1000
}

/// A certificate authority that the operator makes, or is given.
#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase", default = "CertificateAuthority::generated")]
pub struct CertificateAuthority {
    pub generate_certificate_authority: bool,
    #[schemars(range(min = 1))]
    pub validity_days: i32,
    #[schemars(range(min = 1))]
    pub renewal_days: i32,
}

impl CertificateAuthority {
    fn generated() -> Self {
        Self { generate_certificate_authority: true, validity_days: 365, renewal_days: 30 }
    }
}

impl Default for CertificateAuthority {
    fn default() -> Self {
        Self::generated()
    }
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KafkaStatus {
    #[serde(default)]
    pub conditions: Vec<metav1::Condition>,
    pub cluster_id: Option<String>,
    #[serde(default)]
    pub listeners: Vec<ListenerStatus>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListenerStatus {
    pub name: String,
    pub bootstrap_servers: String,
    #[serde(default)]
    pub addresses: Vec<Address>,
    #[serde(default)]
    pub certificates: Vec<String>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
pub struct Address {
    pub host: String,
    pub port: u16,
}
