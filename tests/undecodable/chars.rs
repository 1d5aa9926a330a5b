//! A `char` is a text of one character, a float any number.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "chars.example.com", version = "v1", kind = "K")]
pub struct Spec {
    a: Option<char>,
    #[schemars(with = "Option<String>")]
    b: Option<char>,
    c: Option<f32>,
    d: Option<f64>,
    e: Option<bool>,
    f: Option<std::path::PathBuf>,
    g: Option<arrayvec::ArrayString<8>>,
}
