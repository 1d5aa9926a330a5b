//! The types that parse a text: what each refuses, and which schema would refuse it, too.
//!
//! `undecodable.rs` in `tests/compiler` and `tests/cluster` asks the types themselves, and an API server.

use crate::model::reads::{Parsed, Remedy};

/// A type by its canonical path.
pub fn find(path: &[String]) -> Option<&'static Parsed> {
    let path = path.join("::");
    TYPES.iter().find(|(paths, _)| paths.contains(&path.as_str())).map(|(_, parsed)| parsed)
}

// The API server takes any offset, any sign before fractions of a second, and text behind a second `T`; jiff takes 9
// digits of fractions, and instants before the year 10000 in every time zone.
const DATE_TIMES: &[&str] = &[
    "2024-01-01T00:00:00+99:59",
    "9999-12-31T23:59:59Z",
    "2024-01-01T00:00:00.1234567890Z",
    "2024-01-01T00:00:00x5Z",
    "2024-01-01T00:00:00Zt",
    "x",
];
const CHRONO_DATE_TIMES: &[&str] =
    &["2024-01-01T00:00:00+99:59", "2024-01-01T00:00:00x5Z", "2024-01-01T00:00:00Zt", "x"];
const DATE_TIME: Remedy =
    Remedy::Pattern(r"^[0-8]\d{3}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$");
const TIME: Remedy = Remedy::Pattern(r"^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?$");

type Row = (&'static [&'static str], Parsed);

const fn row(
    paths: &'static [&'static str],
    name: &'static str,
    refused: &'static [&'static str],
    remedy: Remedy,
) -> Row {
    (paths, Parsed { name, refused, remedy })
}

static TYPES: &[Row] = &[
    row(&["k8s_openapi::apimachinery::pkg::apis::meta::v1::Time"], "Time", DATE_TIMES, DATE_TIME),
    row(&["k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime"], "MicroTime", DATE_TIMES, DATE_TIME),
    row(&["jiff::Timestamp"], "jiff::Timestamp", DATE_TIMES, DATE_TIME),
    row(&["chrono::DateTime"], "chrono::DateTime", CHRONO_DATE_TIMES, DATE_TIME),
    row(&["chrono::NaiveDate"], "chrono::NaiveDate", &["x"], Remedy::None),
    row(&["chrono::NaiveDateTime"], "chrono::NaiveDateTime", &["x"], Remedy::None),
    row(&["chrono::NaiveTime"], "chrono::NaiveTime", &["x"], TIME),
    row(&["chrono::Weekday"], "chrono::Weekday", &["x"], Remedy::None),
    row(&["jiff::civil::Date"], "jiff::civil::Date", &["x"], Remedy::None),
    row(&["jiff::civil::DateTime"], "jiff::civil::DateTime", &["x"], Remedy::None),
    row(&["jiff::civil::Time"], "jiff::civil::Time", &["x"], TIME),
    row(&["jiff::Zoned"], "jiff::Zoned", &["x"], Remedy::None),
    row(
        &["jiff::SignedDuration"],
        "jiff::SignedDuration",
        &["every 5s", "1 week", "x"],
        Remedy::Pattern(r"^\d{1,9}(h|m|s|ms)$"),
    ),
    row(&["jiff::Span"], "jiff::Span", &["every 5s", "99999999999999h", "x"], Remedy::Pattern(r"^\d{1,8}(h|m|s|ms)$")),
    row(
        &["kube::core::Duration"],
        "kube::core::Duration",
        &["x", "5"],
        Remedy::Pattern(r"^-?(\d{1,9}(\.\d{1,9})?(ns|us|ms|s|m|h)){1,9}$"),
    ),
    row(
        &["uuid::Uuid"],
        "uuid::Uuid",
        &["0000000000000000-0000-000000000000", "x"],
        Remedy::Pattern("^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"),
    ),
    row(&["std::net::IpAddr"], "IpAddr", &["x"], Remedy::Rule("isIP(self)", 45)),
    row(
        &["std::net::Ipv4Addr"],
        "Ipv4Addr",
        &["::ffff:1.2.3.4", "x"],
        Remedy::Pattern(r"^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$"),
    ),
    row(
        &["std::net::Ipv6Addr"],
        "Ipv6Addr",
        &["1.2.3.4", "x"],
        Remedy::Rule("isIP(self) && ip(self).family() == 6", 45),
    ),
    row(&["std::net::SocketAddr"], "SocketAddr", &["x"], Remedy::None),
    row(
        &["std::net::SocketAddrV4"],
        "SocketAddrV4",
        &["x"],
        Remedy::Pattern(
            r"^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d):([1-9]?\d{1,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])$",
        ),
    ),
    row(&["std::net::SocketAddrV6"], "SocketAddrV6", &["x"], Remedy::None),
    row(&["url::Url"], "url::Url", &["/", "http://example.com:99999", "x"], Remedy::None),
    row(
        &["semver::Version"],
        "semver::Version",
        &["99999999999999999999.0.0", "x"],
        Remedy::Pattern(
            r"^(0|[1-9]\d{0,17})\.(0|[1-9]\d{0,17})\.(0|[1-9]\d{0,17})(-((0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(\+([0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*))?$",
        ),
    ),
];
