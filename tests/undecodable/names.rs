//! Aliases are not in the schema, so the API server drops them. A schema with more names than the type is refused.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "names.example.com", version = "v1", kind = "K")]
pub struct Spec {
    mode: Option<Mode>,
    #[schemars(with = "Option<Wider>")]
    wider: Option<Mode>,
    #[schemars(with = "Option<Wider>")]
    other: Option<Other>,
    #[serde(alias = "old")]
    renamed: Option<u8>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
enum Mode {
    Fast,
    #[serde(alias = "safe")]
    Safe,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
enum Other {
    Fast,
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[allow(non_camel_case_types)]
enum Wider {
    Fast,
    safe,
    Slow,
}
