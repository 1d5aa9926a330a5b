//! A field that a function reads is required, even an `Option`.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "optional-functions.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[serde(deserialize_with = "own")]
    required: Option<String>,
    #[serde(default, deserialize_with = "own")]
    defaulted: Option<String>,
    #[serde(with = "module")]
    #[schemars(with = "Option<String>")]
    module: Option<String>,
    nested: Option<Nested>,
    all: Option<Defaulted>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Nested {
    #[serde(deserialize_with = "own", skip_serializing_if = "Option::is_none")]
    inner: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Defaulted {
    #[serde(deserialize_with = "own")]
    inner: Option<String>,
}

fn own<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Option::<String>::deserialize(deserializer)
}

mod module {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(text: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
        text.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
        Option::<String>::deserialize(deserializer)
    }
}
