//! Decodes JSON into types of Kubernetes, as the API server would. Unknown and missing fields are not reported.

use k8s_openapi::api::{apps, core, networking, policy, rbac, scheduling};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The reason why a value is not the `spec` of a Deployment.
pub fn deployment_spec(value: &Value) -> Result<(), String> {
    decode::<apps::v1::DeploymentSpec>(value)
}

/// The reason why a value is not a rule of a role.
pub fn policy_rule(value: &Value) -> Result<(), String> {
    decode::<rbac::v1::PolicyRule>(value)
}

/// The reason why a value is not an object of a built-in kind. Checks only kinds that bundles may contain.
pub fn object(value: &Value) -> Result<(), String> {
    let [version, kind] = ["apiVersion", "kind"].map(|key| value[key].as_str().unwrap_or_default());
    match (version, kind) {
        ("v1", "ConfigMap") => decode::<core::v1::ConfigMap>(value),
        ("v1", "Secret") => decode::<core::v1::Secret>(value),
        ("v1", "Service") => decode::<core::v1::Service>(value),
        ("v1", "ServiceAccount") => decode::<core::v1::ServiceAccount>(value),
        ("rbac.authorization.k8s.io/v1", "ClusterRole") => decode::<rbac::v1::ClusterRole>(value),
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding") => decode::<rbac::v1::ClusterRoleBinding>(value),
        ("rbac.authorization.k8s.io/v1", "Role") => decode::<rbac::v1::Role>(value),
        ("rbac.authorization.k8s.io/v1", "RoleBinding") => decode::<rbac::v1::RoleBinding>(value),
        ("policy/v1", "PodDisruptionBudget") => decode::<policy::v1::PodDisruptionBudget>(value),
        ("networking.k8s.io/v1", "NetworkPolicy") => decode::<networking::v1::NetworkPolicy>(value),
        ("scheduling.k8s.io/v1", "PriorityClass") => decode::<scheduling::v1::PriorityClass>(value),
        _ => Ok(()),
    }
}

fn decode<T: DeserializeOwned>(value: &Value) -> Result<(), String> {
    serde_json::from_value::<T>(value.clone()).map(drop).map_err(|error| error.to_string())
}

/// The reason why a text is not a CEL expression. Variables and functions are not checked.
pub fn cel_syntax(text: &str) -> Result<(), String> {
    opctl_cel::check_syntax(text).map_err(|error| error.to_string())
}

/// `true` if two CEL rules differ only in whitespace and comments.
pub fn is_same_rule(one: &str, other: &str) -> bool {
    one == other || opctl_cel::has_same_tokens(one, other)
}
