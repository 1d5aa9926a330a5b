//! serde_with writes `skip_serializing_if` for fields whose type is called `Option`.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

type Maybe<T> = Option<T>;

#[skip_serializing_none]
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "SkipNoneByMacro")]
pub struct Spec {
    #[serde(default)]
    pub skipped: Option<u8>,
    #[serde(default)]
    #[serialize_always]
    pub always: Option<u8>,
    #[serde(default)]
    pub alias: Maybe<u8>,
    #[serde(default)]
    pub path: std::option::Option<u8>,
    #[serde(default, skip_serializing_if = "never")]
    pub own: Option<u8>,
    #[serde(default)]
    pub inner: Inner,
    #[serde(default)]
    pub behind: Behind,
    #[serde(default)]
    pub choice: Choice,
}

fn never(_: &Option<u8>) -> bool {
    false
}

#[serde_with_macros::skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub skipped: Option<u8>,
    #[serialize_always]
    pub always: Option<u8>,
    pub alias: Maybe<u8>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[skip_serializing_none]
pub struct Behind {
    pub kept: Option<u8>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Choice {
    One { skipped: Option<u8>, alias: Maybe<u8> },
}

impl Default for Choice {
    fn default() -> Self {
        Self::One { skipped: None, alias: None }
    }
}
