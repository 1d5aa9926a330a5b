use chrono::{DateTime, Duration, NaiveDate, NaiveTime, Utc, Weekday};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsTimesOfChrono")]
pub struct Spec {
    #[serde(default = "epoch")]
    pub epoch: DateTime<Utc>,
    #[serde(default)]
    pub first: DateTime<Utc>,
    #[serde(default = "parsed")]
    pub parsed: DateTime<Utc>,
    #[serde(default = "day")]
    pub day: NaiveDate,
    #[serde(default)]
    pub first_day: NaiveDate,
    #[serde(default = "at")]
    pub at: NaiveTime,
    #[serde(default)]
    pub midnight: NaiveTime,
    #[serde(default = "weekday")]
    pub weekday: Weekday,
    #[serde(default = "minutes")]
    #[schemars(with = "Vec<i64>")]
    pub minutes: Duration,
    #[serde(default = "negative")]
    #[schemars(with = "Vec<i64>")]
    pub negative: Duration,
}

fn epoch() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH
}

fn parsed() -> DateTime<Utc> {
    "2024-02-29T12:00:00Z".parse().unwrap()
}

fn day() -> NaiveDate {
    NaiveDate::from_ymd_opt(2024, 2, 29).unwrap()
}

fn at() -> NaiveTime {
    NaiveTime::from_hms_opt(3, 30, 0).expect("a time")
}

fn weekday() -> Weekday {
    Weekday::Mon
}

fn minutes() -> Duration {
    Duration::minutes(5)
}

fn negative() -> Duration {
    Duration::milliseconds(-1500)
}
