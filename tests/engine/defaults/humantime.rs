use std::time::Duration;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsHumantime")]
pub struct Spec {
    #[serde(default = "minute_and_a_half", with = "humantime_serde")]
    #[schemars(with = "String")]
    pub human: Duration,
    #[serde(default = "long", with = "humantime_serde")]
    #[schemars(with = "String")]
    pub long: Duration,
    #[serde(default, with = "humantime_serde")]
    #[schemars(with = "String")]
    pub none: Duration,
    #[serde(default = "maybe", with = "humantime_serde::option")]
    #[schemars(with = "Option<String>")]
    pub maybe: Option<Duration>,
    #[serde(default, with = "humantime_serde::option")]
    #[schemars(with = "Option<String>")]
    pub maybe_not: Option<Duration>,
    #[serde(default = "minute_and_a_half", serialize_with = "handed_on")]
    #[schemars(with = "String")]
    pub handed_on: Duration,
    #[serde(default)]
    pub inner: Inner,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
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

fn long() -> Duration {
    Duration::from_secs(31_557_600 + 2 * 2_630_016 + 3 * 86_400 + 4 * 3600)
}

fn maybe() -> Option<Duration> {
    Some(Duration::from_secs(5))
}

fn handed_on<S: Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    humantime_serde::serialize(value, serializer)
}
