//! A schema that is not that of the type.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "other-schema.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[schemars(with = "Option<String>")]
    text: Option<u16>,
    #[schemars(with = "Option<f64>")]
    number: Option<u16>,
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true), with = "Option<serde_json::Value>")]
    anything: Option<Inner>,
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    value: Option<serde_json::Value>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Inner {
    a: u8,
}
