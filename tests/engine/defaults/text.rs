use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsText")]
pub struct Spec {
    #[serde(default = "into")]
    pub into: String,
    #[serde(default = "to_string")]
    pub to_string: String,
    #[serde(default = "to_owned")]
    pub to_owned: String,
    #[serde(default = "from")]
    pub from: String,
    #[serde(default = "new")]
    pub new: String,
    #[serde(default = "constant")]
    pub constant: String,
    #[serde(default = "concat")]
    pub concat: String,
    #[serde(default = "format")]
    pub format: String,
    #[serde(default = "nested")]
    pub nested: String,
}

fn into() -> String {
    "into".into()
}

fn to_string() -> String {
    "to_string".to_string()
}

fn to_owned() -> String {
    "to_owned".to_owned()
}

fn from() -> String {
    String::from("from")
}

fn new() -> String {
    String::new()
}

const CONSTANT: &str = "constant";

fn constant() -> String {
    CONSTANT.into()
}

fn concat() -> String {
    concat!("con", "cat").to_string()
}

fn format() -> String {
    format!("{CONSTANT}-{}", 5)
}

fn nested() -> String {
    constant()
}
