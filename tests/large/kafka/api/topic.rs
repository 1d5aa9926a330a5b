use super::prelude::*;

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[kube(
    group = "kafka.messages.io",
    version = "v1beta2",
    kind = "KafkaTopic",
    namespaced,
    shortname = "kt",
    status = "TopicStatus",
    printcolumn(json_path = ".spec.partitions", name = "Partitions", type_ = "integer", format = "int32")
)]
#[serde(rename_all = "camelCase")]
pub struct KafkaTopicSpec {
    #[schemars(length(max = 249))]
    pub topic_name: Option<String>,
    /// Cannot become less.
    #[schemars(range(min = 1))]
    pub partitions: Option<i32>,
    #[schemars(range(min = 1, max = i16::MAX))]
    pub replicas: Option<i32>,
    #[schemars(schema_with = "free_form")]
    #[serde(default)]
    pub config: Option<serde_json::Value>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopicStatus {
    pub topic_id: Option<String>,
    pub conditions: Option<Vec<metav1::Condition>>,
    pub replicas_change: Option<ReplicasChange>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicasChange {
    pub target_replicas: i32,
    pub state: ReplicasChangeState,
    pub session_id: Option<String>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReplicasChangeState {
    Pending,
    Ongoing,
}
