use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsSkippedByOwnFunctions")]
pub struct Spec {
    #[serde(default, skip_serializing_if = "is_default")]
    pub number: i32,
    #[serde(default = "seven", skip_serializing_if = "is_default")]
    pub seven: i32,
    #[serde(default, skip_serializing_if = "Parts::is_empty")]
    pub parts: Parts,
    #[serde(default = "some", skip_serializing_if = "Parts::is_empty")]
    pub some: Parts,
}

/// A type parameter, and statements behind a `cfg`.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    #[cfg(feature = "never")]
    {
        let _ = value;
        false
    }
    #[cfg(not(feature = "never"))]
    {
        value == &T::default()
    }
}

fn seven() -> i32 {
    7
}

fn some() -> Parts {
    Parts { count: 1, ..Parts::default() }
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Parts {
    #[serde(default)]
    policies: Vec<String>,
    #[serde(default)]
    users: Vec<User>,
    #[serde(default)]
    buckets: Vec<i32>,
    #[serde(default)]
    count: u8,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct User {
    name: String,
}

impl Parts {
    fn is_empty(&self) -> bool {
        self.policies.is_empty() && self.users.is_empty() && self.buckets.is_empty() && self.count == 0
    }
}
