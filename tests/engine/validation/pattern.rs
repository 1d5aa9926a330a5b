use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationPattern")]
pub struct Spec {
    #[schemars(regex(pattern = r"^[a-z]+$"))]
    pub regex: String,
    #[schemars(pattern(r"^a"))]
    pub pattern: Option<String>,
    #[schemars(regex(pattern = PATTERN))]
    pub constant: String,
    #[schemars(pattern(PATTERN))]
    pub other: String,
}

const PATTERN: &str = concat!("^", r"\d+", "$");
