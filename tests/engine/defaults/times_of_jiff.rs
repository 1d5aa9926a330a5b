use jiff::civil::{Date, Time, date, time};
use jiff::{SignedDuration, Span, Timestamp};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsTimesOfJiff")]
pub struct Spec {
    #[serde(default = "seconds")]
    pub seconds: SignedDuration,
    #[serde(default = "hours")]
    pub hours: SignedDuration,
    #[serde(default = "friendly")]
    pub friendly: SignedDuration,
    #[serde(default)]
    pub none: SignedDuration,
    #[serde(default = "span")]
    pub span: Span,
    #[serde(default)]
    pub no_span: Span,
    #[serde(default = "epoch")]
    pub epoch: Timestamp,
    #[serde(default)]
    pub first: Timestamp,
    #[serde(default = "parsed")]
    pub parsed: Timestamp,
    #[serde(default = "day")]
    pub day: Date,
    #[serde(default = "at")]
    pub at: Time,
    #[serde(default)]
    pub midnight: Time,
}

fn seconds() -> SignedDuration {
    SignedDuration::from_secs(90)
}

fn hours() -> SignedDuration {
    SignedDuration::from_hours(36)
}

fn friendly() -> SignedDuration {
    "1h 30m".parse().unwrap()
}

fn span() -> Span {
    Span::new().days(1).hours(2).minutes(30)
}

fn epoch() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

fn parsed() -> Timestamp {
    "2024-02-29T12:00:00Z".parse().unwrap()
}

fn day() -> Date {
    date(2024, 2, 29)
}

fn at() -> Time {
    time(3, 30, 0, 0)
}
