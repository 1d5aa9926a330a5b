//! The types that parse strings: the values that each refuses, and a schema that refuses them, too. Also functions of
//! other crates for `#[serde(with = "…")]`.
//!
//! `undecodable.rs` in `tests/compiler` and `tests/cluster` compares this with the types themselves, and with an API
//! server.

use opctl_model::reads::{Integer, Parsed, Reads, Remedy};

/// A type by its canonical path.
pub fn find(path: &[String]) -> Option<Reads> {
    let path = path.join("::");
    if TEXTS.contains(&path.as_str()) {
        return Some(Reads::Text);
    }
    if FLOATS.contains(&path.as_str()) {
        return Some(Reads::Float);
    }
    parsed(&path).map(Reads::Parsed)
}

/// A deserializing function of another crate, by its path or by the path of its module.
pub fn function(path: &[String]) -> Option<Reads> {
    let path = path.join("::");
    let path = path.strip_suffix("::deserialize").unwrap_or(&path);
    // The field's type decides if a missing value is accepted.
    let path = ["::option", "_option", "::optional", "::required"]
        .iter()
        .find_map(|suffix| path.strip_suffix(suffix))
        .unwrap_or(path);
    if let Some((_, min, max)) = NUMBERS.iter().find(|(module, ..)| *module == path) {
        let name = path.to_owned();
        return Some(Reads::Integer(Integer { name, min: *min, max: *max, zero: true }));
    }
    parsed(path).map(Reads::Parsed)
}

fn parsed(path: &str) -> Option<&'static Parsed> {
    TYPES.iter().find(|(paths, _)| paths.contains(&path)).map(|(_, parsed)| parsed)
}

/// Types that accept every string.
const TEXTS: &[&str] = &[
    "arcstr::ArcStr",
    "bytestring::ByteString",
    "camino::Utf8PathBuf",
    "compact_str::CompactString",
    "ecow::EcoString",
    "secrecy::SecretString",
    "smartstring::SmartString",
];

/// Types that accept every number.
const FLOATS: &[&str] = &["ordered_float::NotNan", "ordered_float::OrderedFloat"];

/// Modules that read a number as a time, with its minimum and maximum.
const NUMBERS: &[(&str, i128, i128)] = &[
    ("chrono::serde::ts_seconds", -8_334_601_228_800, 8_210_266_876_799),
    ("chrono::serde::ts_milliseconds", -8_334_601_228_800_000, 8_210_266_876_799_999),
    ("chrono::serde::ts_microseconds", -8_334_601_228_800_000_000, 8_210_266_876_799_999_999),
    ("chrono::serde::ts_nanoseconds", i64::MIN as i128, i64::MAX as i128),
    ("jiff::fmt::serde::timestamp::second", -377_705_023_201, 253_402_207_200),
    ("jiff::fmt::serde::timestamp::millisecond", -377_705_023_201_000, 253_402_207_200_999),
    ("jiff::fmt::serde::timestamp::microsecond", -377_705_023_201_000_000, 253_402_207_200_999_999),
    ("time::serde::timestamp", -377_705_116_800, 253_402_300_799),
];

// Values that the API server accepts: any offset, any sign before fractions of a second, and text after a second `T`.
// jiff accepts at most 9 digits of fractions, and only instants before the year 10000 in every time zone.
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
    row(
        &[
            "humantime_serde",
            "serde_humantime",
            "duration_str::deserialize_duration",
            "duration_string::DurationString",
            "humantime::Duration",
        ],
        "humantime_serde",
        &["x", "5", ""],
        Remedy::Pattern(r"^(\d{1,6}(ms|s|m|h)){1,4}$"),
    ),
    row(
        &["ipnet::IpNet", "ipnetwork::IpNetwork", "cidr::IpCidr"],
        "IpNet",
        &["x", "10.0.0.1"],
        Remedy::Rule("isCIDR(self)", 49),
    ),
    row(
        &["ipnet::Ipv4Net"],
        "Ipv4Net",
        &["::/0", "x", "10.0.0.1"],
        Remedy::Rule("isCIDR(self) && cidr(self).ip().family() == 4", 49),
    ),
    row(
        &["ipnet::Ipv6Net"],
        "Ipv6Net",
        &["10.0.0.0/8", "x", "::1"],
        Remedy::Rule("isCIDR(self) && cidr(self).ip().family() == 6", 49),
    ),
    row(&["semver::VersionReq"], "semver::VersionReq", &["x"], Remedy::None),
    row(&["serde_regex", "regex::Regex"], "regex::Regex", &["(", "["], Remedy::None),
    row(&["http_serde::uri", "http::Uri", "http::uri::Uri"], "http::Uri", &["a b", ""], Remedy::None),
    row(&["http_serde::method"], "http::Method", &["a b", ""], Remedy::None),
    row(&["http_serde::authority"], "http::uri::Authority", &["a b", ""], Remedy::None),
    row(&["bytesize::ByteSize"], "bytesize::ByteSize", &["x"], Remedy::Pattern(r"^\d{1,9}([KMGT]i?)?B?$")),
    row(
        &["rust_decimal::Decimal", "rust_decimal::serde::str", "bigdecimal::BigDecimal"],
        "Decimal",
        &["x", ""],
        Remedy::Pattern(r"^-?\d{1,20}(\.\d{1,8})?$"),
    ),
    row(&["email_address::EmailAddress"], "EmailAddress", &["x", "@"], Remedy::None),
    row(
        &["time::serde::rfc3339", "time::serde::iso8601"],
        "time::OffsetDateTime",
        &["x", "2024-01-01T00:00:00+99:59"],
        DATE_TIME,
    ),
    row(&["time::serde::rfc2822"], "time::OffsetDateTime", &["x"], Remedy::None),
    row(
        &["hex", "hex::serde", "const_hex", "serde_with::Hex"],
        "hex",
        &["x", "0"],
        Remedy::Pattern("^([0-9a-f]{2})*$"),
    ),
    row(
        &["serde_with::Base64"],
        "Base64",
        &["x", "%"],
        Remedy::Pattern("^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"),
    ),
    row(&["serde_with::JsonString"], "JsonString", &["x", "{"], Remedy::None),
    row(
        &["uuid::serde::simple", "uuid::serde::hyphenated", "uuid::serde::braced", "uuid::serde::urn"],
        "uuid::Uuid",
        &["x", "0000000000000000-0000-000000000000"],
        Remedy::None,
    ),
];
