use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value, or where it is.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValueOr<S, T = String> {
    pub value: Option<T>,
    pub value_from: Option<S>,
}

/// A key of a Secret, also of another namespace where the store is cluster-wide.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct SecretSelector {
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    #[serde(default)]
    pub namespace: Option<String>,
    #[schemars(regex(pattern = r"^[-._a-zA-Z0-9]+$"))]
    pub key: String,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceAccountSelector {
    pub name: String,
    #[serde(default)]
    pub audiences: Vec<String>,
}

pub type Credential = ValueOr<SecretSelector>;
pub type Port = ValueOr<SecretSelector, u16>;

/// Either of two.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OneOf<L, R> {
    Static(L),
    Dynamic(R),
}
