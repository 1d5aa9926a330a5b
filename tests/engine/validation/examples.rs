use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationExamples")]
pub struct Spec {
    #[schemars(example = 5, example = 6)]
    pub number: u32,
    #[schemars(example = &"text of it")]
    pub text: String,
    #[schemars(example = "with a blank")]
    pub blank: String,
    #[schemars(example = [1, 2])]
    pub list: Vec<u8>,
    #[schemars(example = true)]
    pub flag: bool,
    #[schemars(example = 1.5)]
    pub ratio: f64,
    #[schemars(example = serde_json::json!({ "a": [1, null] }))]
    pub object: BTreeMap<String, Vec<u8>>,
    #[schemars(example = made())]
    pub made: String,
    #[schemars(example = MADE)]
    pub constant: u8,
}

fn made() -> String {
    "made".to_string()
}

const MADE: u8 = 7;
