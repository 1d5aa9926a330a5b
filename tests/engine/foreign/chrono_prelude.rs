use chrono::prelude::*;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ForeignChronoPrelude")]
pub struct Spec {
    pub at: DateTime<Utc>,
    pub date: Option<NaiveDate>,
    pub day: Weekday,
}
