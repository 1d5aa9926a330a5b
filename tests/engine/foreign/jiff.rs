use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ForeignJiff")]
pub struct Spec {
    pub at: jiff::Timestamp,
    pub zoned: jiff::Zoned,
    pub span: jiff::Span,
    pub duration: jiff::SignedDuration,
    pub date: jiff::civil::Date,
    pub time: jiff::civil::Time,
    pub both: Option<jiff::civil::DateTime>,
}
