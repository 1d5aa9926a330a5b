use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ForeignChrono")]
pub struct Spec {
    pub at: chrono::DateTime<chrono::Utc>,
    pub local: Option<chrono::DateTime<chrono::FixedOffset>>,
    pub date: chrono::NaiveDate,
    pub both: chrono::NaiveDateTime,
    pub time: chrono::NaiveTime,
    pub day: chrono::Weekday,
}
