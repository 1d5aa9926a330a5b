use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ConditionStatus represents a condition's status.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum ConditionStatus {
    /// ConditionTrue represents the fact that a given condition is true
    True,
    /// ConditionFalse represents the fact that a given condition is false
    False,
    /// ConditionUnknown represents the fact that a given condition is unknown
    Unknown,
}

/// A reference to an object in the same namespace as the referent.
/// If the referent is a cluster-scoped resource (e.g. a ClusterIssuer),
/// the reference instead refers to the resource with the given name in the
/// configured 'cluster resource namespace', which is set as a flag on the
/// controller component (and defaults to the namespace that it runs in).
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct LocalObjectReference {
    /// Name of the resource being referred to.
    /// More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names
    pub name: String,
}

/// ObjectReference is a reference to an object with a given name, kind and group.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ObjectReference {
    /// Name of the resource being referred to.
    pub name: String,
    /// Kind of the resource being referred to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Group of the resource being referred to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// A reference to a specific 'key' within a Secret resource.
/// In some instances, `key` is a required field.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct SecretKeySelector {
    /// The name of the Secret resource being referred to.
    #[serde(flatten)]
    pub local_object_reference: LocalObjectReference,
    /// The key of the entry in the Secret resource's `data` field to be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A condition whose `type` is one of a kind's own.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TypedCondition<T> {
    /// Type of the condition.
    pub r#type: T,
    /// Status of the condition, one of (`True`, `False`, `Unknown`).
    pub status: ConditionStatus,
    pub last_transition_time: Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::Time>,
    pub reason: Option<String>,
    pub message: Option<String>,
    pub observed_generation: Option<i64>,
}
