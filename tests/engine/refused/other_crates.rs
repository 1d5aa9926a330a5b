use std::time::Duration;

use chrono::{DateTime, FixedOffset, Utc};
use kube::CustomResource;
use schemars::transform::RestrictFormats;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use url::Url;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "OtherCrates")]
pub struct Spec {
    #[serde(default = "encoded")]
    pub encoded: Url,
    #[serde(default = "numeric")]
    pub numeric: Url,
    #[serde(default = "now")]
    pub now: DateTime<Utc>,
    #[serde(default)]
    pub offset: DateTime<FixedOffset>,
    #[serde(default = "micros", with = "humantime_serde")]
    #[schemars(with = "String")]
    pub micros: Duration,
    #[serde(default = "micros", serialize_with = "looped")]
    #[schemars(with = "u64")]
    pub looped: Duration,
    #[serde(default = "micros", with = "chrono::serde::ts_seconds")]
    #[schemars(with = "u64")]
    pub unknown: Duration,
    #[schemars(schema_with = "of_another_generator")]
    pub generator: String,
    #[schemars(transform = RestrictFormats { infer_from_meta_schema: false, ..Default::default() })]
    pub transformed: u8,
    pub of_std: <String as Has>::Item,
    pub of_several: Holder<Own>,
    #[serde(default)]
    pub bound: Bound<Own>,
}

fn encoded() -> Url {
    Url::parse("https://example.com/a b").unwrap()
}

fn numeric() -> Url {
    Url::parse("https://example.0x7f/").unwrap()
}

fn now() -> DateTime<Utc> {
    Utc::now()
}

fn micros() -> Duration {
    Duration::from_micros(5)
}

fn looped<S: Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    let mut sum = 0;
    for second in 0..value.as_secs() {
        sum += second;
    }
    serializer.serialize_u64(sum)
}

fn of_another_generator(_: &mut SchemaGenerator) -> Schema {
    SchemaGenerator::default().subschema_for::<Own>()
}

pub trait Has {
    type Item;
}

pub trait Other {
    type Item;
}

impl Has for String {
    type Item = u8;
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Own;

impl Has for Own {
    type Item = u8;
}

impl Other for Own {
    type Item = u16;
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Holder<T: Has> {
    pub item: T::Item,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Bound<T: Has> {
    #[serde(default)]
    pub item: <T as Has>::Item,
}
