//! The API server takes times that no type for them does.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "times.example.com", version = "v1", kind = "K")]
pub struct Spec {
    c: Option<chrono::DateTime<chrono::Utc>>,
    d: Option<jiff::Timestamp>,
    e: Option<chrono::NaiveDate>,
    f: Option<chrono::NaiveDateTime>,
    g: Option<chrono::NaiveTime>,
    h: Option<jiff::Zoned>,
    i: Option<jiff::civil::Date>,
    j: Option<jiff::civil::Time>,
    k: Option<jiff::civil::DateTime>,
}
