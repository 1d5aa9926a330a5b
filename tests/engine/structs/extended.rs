use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Other attributes set the same keywords.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "StructsExtended")]
pub struct Spec {
    #[schemars(length(min = 2), extend("minLength" = 1))]
    pub length: String,
    #[schemars(extend("maximum" = 9, "minimum" = 1), range(max = 8))]
    pub range: i64,
    #[serde(default = "four")]
    #[schemars(extend("default" = 5))]
    pub default: i64,
    #[schemars(description = "one", extend("description" = "two"))]
    pub description: bool,
}

fn four() -> i64 {
    4
}
