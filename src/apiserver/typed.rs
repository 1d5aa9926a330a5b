//! JSON → types of Kubernetes: whether the API server could decode it. Unknown and missing fields are not reported.

use k8s_openapi::api::{apps::v1::DeploymentSpec, rbac::v1::PolicyRule};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why a value is no `spec` of a Deployment.
pub fn deployment_spec(value: &Value) -> Result<(), String> {
    decode::<DeploymentSpec>(value)
}

/// Why a value is no rule of a role.
pub fn policy_rule(value: &Value) -> Result<(), String> {
    decode::<PolicyRule>(value)
}

fn decode<T: DeserializeOwned>(value: &Value) -> Result<(), String> {
    serde_json::from_value::<T>(value.clone()).map(drop).map_err(|error| error.to_string())
}

/// Why a text is no expression of CEL; variables and functions are not checked.
pub fn cel_syntax(text: &str) -> Result<(), String> {
    opctl_cel::check_syntax(text).map_err(|error| error.to_string())
}
