use std::time::Duration;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsWrittenByFunctions")]
pub struct Spec {
    #[serde(default = "minute_and_a_half", with = "seconds")]
    #[schemars(with = "u64")]
    pub seconds: Duration,
    #[serde(default = "minute_and_a_half", serialize_with = "as_text", skip_deserializing)]
    #[schemars(with = "String")]
    pub text: Duration,
    #[serde(default = "maybe", with = "maybe_seconds")]
    #[schemars(with = "Option<u64>")]
    pub optional: Option<Duration>,
    #[serde(default = "minute_and_a_half", serialize_with = "shown")]
    #[schemars(with = "String")]
    pub shown: Duration,
    #[serde(default = "list", serialize_with = "joined")]
    #[schemars(with = "String")]
    pub joined: Vec<String>,
    #[serde(default = "minute_and_a_half", serialize_with = "handed_on")]
    #[schemars(with = "u64")]
    pub handed_on: Duration,
    #[serde(default)]
    pub inner: Inner,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    #[serde(with = "seconds")]
    #[schemars(with = "u64")]
    pub timeout: Duration,
}

impl Default for Inner {
    fn default() -> Self {
        Self { timeout: Duration::from_millis(2_500) }
    }
}

fn minute_and_a_half() -> Duration {
    Duration::from_secs(90)
}

fn maybe() -> Option<Duration> {
    Some(Duration::from_secs(5))
}

fn list() -> Vec<String> {
    vec!["a".to_string(), "b".to_string()]
}

mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(value.as_secs())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        Ok(Duration::from_secs(u64::deserialize(deserializer)?))
    }
}

mod maybe_seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S>(value: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error>
    where
        S: Serializer,
    {
        match value {
            Some(value) => serializer.serialize_some(&value.as_secs()),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_secs))
    }
}

fn as_text<S: serde::Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    let text = format!("{}s", value.as_secs());
    text.serialize(serializer)
}

fn shown<S: serde::Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&value.as_secs())
}

fn joined<S: serde::Serializer>(value: &[String], s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&value.join(","))
}

fn handed_on<S: serde::Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    seconds::serialize(value, serializer)
}
