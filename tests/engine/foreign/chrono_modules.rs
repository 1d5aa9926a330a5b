use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ForeignChronoModules")]
pub struct Spec {
    pub at: chrono::prelude::DateTime<chrono::prelude::Utc>,
    pub naive: chrono::naive::NaiveDate,
    pub offset: chrono::DateTime<chrono::offset::Local>,
}
