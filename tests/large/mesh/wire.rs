//! Values as protobuf's JSON has them.

use std::fmt;
use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Milliseconds, written as `1.5s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(u64);

impl Serialize for Duration {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.trim_end_matches('s').parse::<f64>().map(|seconds| Self((seconds * 1e3) as u64)).map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}s", self.0 / 1000, self.0 % 1000)
    }
}

impl schemars::JsonSchema for Duration {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        concat!(module_path!(), "::Duration").into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": r"^\d+(\.\d{1,9})?s$", "maxLength": 24 })
    }
}

/// Distinguishes an unset number from zero.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Wrapped<T>(pub Option<T>);

impl<T> Deref for Wrapped<T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        &self.0
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StringMatch {
    Exact(String),
    Prefix(String),
    Regex(String),
}

/// Shares of a hundred.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Percent {
    #[schemars(range(min = 0.0, max = 100.0))]
    #[serde(default = "Percent::all")]
    pub value: f64,
}

impl Percent {
    fn all() -> f64 {
        100.0
    }
}
