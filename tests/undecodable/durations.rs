//! The format `duration` is one of Scala for the API server.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "durations.example.com", version = "v1", kind = "K")]
pub struct Spec {
    a: Option<kube::core::Duration>,
    b: Option<jiff::SignedDuration>,
    c: Option<jiff::Span>,
    d: Option<std::time::Duration>,
    e: Option<std::time::SystemTime>,
}
