//! Values of other crates' types, and addresses of std: their constants, constructors and parsers, as the JSON that
//! serde writes.
//!
//! Values that another release of the crate may serialize differently, or that depend on the time or the machine, are
//! left out.

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::str::FromStr;

use jiff::SignedDuration;
use jiff::civil;
use serde_json::{Value as Json, json};
use syn::Expr;

use super::Evaluator;
use super::context::{Context, Derived, Scope, Typed, all};
use super::values::{Hint, Value};

const EPOCH: &str = "1970-01-01T00:00:00Z";

/// A constant of a type, or one of its variants.
pub fn constant(path: &[String], name: &str) -> Option<Value> {
    Some(text(match (path.join("::").as_str(), name) {
        ("chrono::DateTime" | "jiff::Timestamp", "UNIX_EPOCH") => EPOCH,
        ("chrono::NaiveTime" | "jiff::civil::Time", "MIN") => "00:00:00",
        ("chrono::Weekday", "Mon" | "Tue" | "Wed" | "Thu" | "Fri" | "Sat" | "Sun") => name,
        ("jiff::SignedDuration", "ZERO") => "PT0S",
        _ => return None,
    }))
}

/// `Default` of a type.
pub fn default_of(cx: &Context<'_>, path: &[String], arguments: &[Typed]) -> Option<Value> {
    Some(match path.join("::").as_str() {
        "chrono::DateTime" if is_utc(cx, arguments) => text(EPOCH),
        "chrono::NaiveDate" => text("1970-01-01"),
        "chrono::NaiveDateTime" => text("1970-01-01T00:00:00"),
        "chrono::NaiveTime" | "jiff::civil::Time" => text("00:00:00"),
        "chrono::TimeDelta" => Value::Json(json!([0, 0])),
        "jiff::SignedDuration" | "jiff::Span" => text("PT0S"),
        "jiff::Timestamp" => text(EPOCH),
        _ => return None,
    })
}

fn is_utc(cx: &Context<'_>, arguments: &[Typed]) -> bool {
    arguments.first().and_then(|(ty, scope)| cx.foreign_type(ty, scope)).is_some_and(|path| path == ["chrono", "Utc"])
}

/// The result of calling a function of a type or of a crate.
pub fn foreign_call(
    evaluator: &mut Evaluator<'_, '_>,
    path: &[String],
    function: &str,
    arguments: &[&Expr],
    scope: &Scope,
) -> Derived<Option<Value>> {
    let of = path.join("::");
    Ok(match (of.as_str(), function, arguments) {
        ("url::Url" | "semver::Version", "parse", [argument]) | ("uuid::Uuid", "parse_str", [argument]) => {
            let argument = evaluator.text(argument, scope)?;
            parsed_text(&of, &argument)
        }
        ("uuid::Uuid", "nil", []) => Some(text("00000000-0000-0000-0000-000000000000")),
        ("semver::Version", "new", [_, _, _]) => {
            let numbers = evaluator.numbers::<u64>(arguments, "u64", scope)?;
            numbers.map(|numbers| text(semver::Version::new(numbers[0], numbers[1], numbers[2])))
        }
        ("std::net::SocketAddr" | "std::net::SocketAddrV4" | "std::net::SocketAddrV6", "new", [ip, port, ..]) => {
            let ip = evaluator.evaluate(ip, scope, &Hint::Unknown)?;
            let port = u16::try_from(evaluator.integer(port, scope, "u16")?).ok();
            // Flow and scope of IPv6 are omitted if they are 0.
            let rest = evaluator.numbers::<u32>(&arguments[2..], "u32", scope)?;
            let is_plain = rest.is_some_and(|rest| rest.iter().all(|number| *number == 0));
            address(ip).zip(port).filter(|_| is_plain).map(|(ip, port)| text(SocketAddr::new(ip, port)))
        }
        ("std::net::SocketAddr", "V4" | "V6", [address]) => Some(evaluator.evaluate(address, scope, &Hint::Unknown)?),
        ("std::net::SocketAddr", "from", [value]) => socket_address(evaluator, value, scope)?,
        ("kube::core::Duration", "from", [value]) => match evaluator.evaluate(value, scope, &Hint::Unknown)? {
            Value::Duration(time) => of_kube(time.into()),
            _ => None,
        },
        ("jiff::SignedDuration", unit @ ("from_secs" | "from_mins" | "from_hours" | "from_millis"), [count]) => {
            let count = i64::try_from(evaluator.integer(count, scope, "i64")?).ok();
            let time = count.and_then(|count| match unit {
                "from_millis" => Some(SignedDuration::from_millis(count)),
                _ => Some(SignedDuration::from_secs(count.checked_mul(seconds_in(&unit[5..])?)?)),
            });
            time.map(text)
        }
        ("jiff::Span", "new", []) => Some(text("PT0S")),
        ("jiff::Timestamp", "from_second", [second]) => {
            let second = i64::try_from(evaluator.integer(second, scope, "i64")?).ok();
            Some(result(second.and_then(|second| jiff::Timestamp::from_second(second).ok())))
        }
        ("jiff::civil" | "jiff::civil::Date", "date" | "new" | "constant", [_, _, _]) => {
            let date = evaluator.date(arguments, scope)?;
            if function == "new" { Some(result(date)) } else { date.map(text) }
        }
        ("jiff::civil" | "jiff::civil::Time", "time" | "new" | "constant", [hms @ .., nanos]) if hms.len() == 3 => {
            let time = evaluator.time(hms, scope)?;
            let is_whole = evaluator.integer(nanos, scope, "i32")? == 0;
            match (is_whole, function) {
                (true, "new") => Some(result(time)),
                (true, _) => time.map(text),
                (false, _) => None,
            }
        }
        ("chrono::NaiveDate", "from_ymd_opt", [_, _, _]) => {
            // chrono writes other years with a sign.
            let date = evaluator.date(arguments, scope)?;
            date.filter(|date| date.year() >= 0).map(|date| option(Some(date)))
        }
        ("chrono::NaiveTime", "from_hms_opt", [_, _, _]) => Some(option(evaluator.time(arguments, scope)?)),
        ("chrono::TimeDelta", "zero", []) => Some(Value::Json(json!([0, 0]))),
        ("chrono::TimeDelta", unit, [count]) if delta(unit, 0).is_some() => {
            let count = i64::try_from(evaluator.integer(count, scope, "i64")?).ok();
            count.and_then(|count| delta(unit, count)).map(Value::Json)
        }
        ("chrono::TimeDelta", unit, [count]) if unit.strip_prefix("try_").is_some_and(|it| delta(it, 0).is_some()) => {
            let count = i64::try_from(evaluator.integer(count, scope, "i64")?).ok();
            let delta = count.and_then(|count| delta(&unit["try_".len()..], count));
            Some(Value::Option(delta.map(|delta| Box::new(Value::Json(delta)))))
        }
        _ => None,
    })
}

/// The result of `parse`; `None` if the string is refused, or another release may parse it differently.
pub fn parsed(cx: &Context<'_>, path: &[String], arguments: &[Typed], from: &str) -> Option<Value> {
    match path.join("::").as_str() {
        "chrono::DateTime" if !is_utc(cx, arguments) => None,
        of => parsed_text(of, from),
    }
}

fn parsed_text(of: &str, from: &str) -> Option<Value> {
    /// A string that equals its parsed and displayed value is the same in every release.
    fn same<T: FromStr + Display>(text: &str) -> Option<String> {
        text.parse::<T>().ok().map(|parsed| parsed.to_string()).filter(|parsed| parsed == text)
    }
    fn normal<T: FromStr + Display>(text: &str) -> Option<String> {
        text.parse::<T>().ok().map(|parsed| parsed.to_string())
    }
    let parsed = match of {
        // chrono writes more digits of fractions than jiff.
        "chrono::DateTime" => same::<jiff::Timestamp>(from).filter(|text| text.len() == EPOCH.len()),
        "chrono::NaiveDate" | "jiff::civil::Date" => same::<civil::Date>(from).filter(|text| !text.starts_with('-')),
        "chrono::NaiveTime" | "jiff::civil::Time" => same::<civil::Time>(from).filter(|text| !text.contains('.')),
        "jiff::SignedDuration" => normal::<SignedDuration>(from),
        "jiff::Span" => normal::<jiff::Span>(from),
        "jiff::Timestamp" => same::<jiff::Timestamp>(from),
        "kube::core::Duration" => {
            let time = from.parse::<kube_core::Duration>().ok().and_then(of_kube);
            return time.map(|time| Value::Result(Some(Box::new(time))));
        }
        "semver::Version" => normal::<semver::Version>(from),
        "std::net::IpAddr" => normal::<IpAddr>(from),
        "std::net::Ipv4Addr" => normal::<Ipv4Addr>(from),
        "std::net::Ipv6Addr" => normal::<std::net::Ipv6Addr>(from),
        "std::net::SocketAddr" => normal::<SocketAddr>(from),
        "std::net::SocketAddrV4" => normal::<SocketAddrV4>(from),
        "std::net::SocketAddrV6" => normal::<SocketAddrV6>(from),
        "url::Url" => plain_url(from),
        "uuid::Uuid" => is_plain_uuid(from).then(|| from.to_owned()),
        _ => None,
    };
    parsed.map(|parsed| result(Some(parsed)))
}

/// Units of a `jiff::Span`.
pub const UNITS: [&str; 7] = ["days", "hours", "minutes", "months", "seconds", "weeks", "years"];

/// The `Display` of a `jiff::Span` with another unit set: `Span::new().minutes(5)`.
pub fn with_unit(span: &str, unit: &str, count: i64) -> Option<Value> {
    let span: jiff::Span = span.starts_with('P').then(|| span.parse().ok())??;
    let span = match unit {
        "years" => span.try_years(count),
        "months" => span.try_months(count),
        "weeks" => span.try_weeks(count),
        "days" => span.try_days(count),
        "hours" => span.try_hours(count),
        "minutes" => span.try_minutes(count),
        "seconds" => span.try_seconds(count),
        _ => return None,
    };
    span.ok().map(text)
}

/// `SocketAddr::from((ip, port))`, also with the bytes of an address.
pub fn socket_address(evaluator: &mut Evaluator<'_, '_>, value: &Expr, scope: &Scope) -> Derived<Option<Value>> {
    let pair = Hint::Pair(Box::new(Hint::List(Box::new(Hint::Number("u8")))), Box::new(Hint::Number("u16")));
    let Value::List("tuple", pair) = evaluator.evaluate(value, scope, &pair)? else { return Ok(None) };
    let Ok([ip, Value::Integer(port, _)]) = <[Value; 2]>::try_from(pair) else { return Ok(None) };
    Ok(address(ip).zip(u16::try_from(port).ok()).map(|(ip, port)| text(SocketAddr::new(ip, port))))
}

fn address(value: Value) -> Option<IpAddr> {
    match value {
        Value::Json(Json::String(text)) => text.parse().ok(),
        Value::List("array", bytes) => {
            let byte = |byte| match byte {
                Value::Integer(byte, "u8") => u8::try_from(byte).ok(),
                _ => None,
            };
            let bytes: Vec<u8> = bytes.into_iter().map(byte).collect::<Option<_>>()?;
            Some(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?).into())
        }
        _ => None,
    }
}

/// kube's serialization of a duration.
pub fn of_kube(time: kube_core::Duration) -> Option<Value> {
    serde_json::to_value(time).ok().map(Value::Json)
}

/// humantime's serialization of a duration; below a millisecond, it depends on a feature.
pub fn by_humantime(value: Value) -> Option<Json> {
    let time = match value {
        Value::Duration(time) => time,
        Value::Option(Some(value)) => return by_humantime(*value),
        Value::Option(None) => return Some(Json::Null),
        _ => return None,
    };
    let (seconds, millis) = (time.as_secs(), u64::from(time.subsec_millis()));
    if time.subsec_nanos() % 1_000_000 != 0 {
        return None;
    }
    let (year, month, day) = (31_557_600, 2_630_016, 86_400);
    let (in_year, in_month, in_day) = (seconds % year, seconds % year % month, seconds % year % month % day);
    let parts = [
        (seconds / year, "year"),
        (in_year / month, "month"),
        (in_month / day, "day"),
        (in_day / 3600, "h"),
        (in_day % 3600 / 60, "m"),
        (in_day % 60, "s"),
        (millis, "ms"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, unit)| {
        let plural = if count > 1 && unit.len() > 2 { "s" } else { "" };
        format!("{count}{unit}{plural}")
    });
    let parts: Vec<String> = parts.collect();
    Some(if parts.is_empty() { "0s".into() } else { parts.join(" ").into() })
}

fn seconds_in(unit: &str) -> Option<i64> {
    Some(match unit {
        "secs" | "seconds" => 1,
        "mins" | "minutes" => 60,
        "hours" => 3600,
        "days" => 86400,
        "weeks" => 7 * 86400,
        _ => return None,
    })
}

/// chrono's serialization of a `TimeDelta`: seconds, and the remaining nanoseconds.
fn delta(unit: &str, count: i64) -> Option<Json> {
    let (seconds, millis) = match unit {
        "milliseconds" => (count.div_euclid(1000), count.rem_euclid(1000)),
        _ => (count.checked_mul(seconds_in(unit).filter(|_| unit != "secs" && unit != "mins")?)?, 0),
    };
    (seconds.unsigned_abs() < i64::MAX.unsigned_abs() / 1000).then(|| json!([seconds, millis * 1_000_000]))
}

/// url's serialization of a URL in which nothing is encoded, resolved or omitted.
fn plain_url(url: &str) -> Option<String> {
    const PLAIN: &str = "-._~!$&()*+,;=:@/";
    let (scheme, rest) = url.split_once("://")?;
    let default_port = match scheme {
        "http" | "ws" => 80,
        "https" | "wss" => 443,
        _ => return None,
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let is_label = |label: &str| {
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        !label.is_empty() && label.chars().all(is_plain) && !label.starts_with("xn--") && label.len() < 64
    };
    let is_name = host.split('.').all(is_label) && host.split('.').next_back().is_some_and(is_letters);
    let is_host = is_name || host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.to_string() == host);
    let is_port = port.is_none_or(|port| {
        port.parse::<u16>().is_ok_and(|number| number.to_string() == port && number != default_port)
    });
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let is_plain = |part: &str| part.chars().all(|letter| letter.is_ascii_alphanumeric() || PLAIN.contains(letter));
    let has_dots = path.split('/').any(|segment| segment == "." || segment == "..");
    let path = if path.is_empty() { "/" } else { path };
    let query_text = query.map(|query| format!("?{query}")).unwrap_or_default();
    (is_host && is_port && is_plain(path) && query.is_none_or(is_plain) && !has_dots)
        .then(|| format!("{scheme}://{authority}{path}{query_text}"))
}

/// `true` unless a host with this last label may be a number.
fn is_letters(label: &str) -> bool {
    label.starts_with(|letter: char| letter.is_ascii_lowercase())
}

/// `true` for the form `67e55044-10b1-426f-9247-bb680e5fe0c8`.
fn is_plain_uuid(text: &str) -> bool {
    text.len() == 36
        && text.char_indices().all(|(at, letter)| match at {
            8 | 13 | 18 | 23 => letter == '-',
            _ => letter.is_ascii_digit() || ('a'..='f').contains(&letter),
        })
}

fn text(value: impl Display) -> Value {
    Value::Json(value.to_string().into())
}

fn result(value: Option<impl Display>) -> Value {
    Value::Result(value.map(|value| Box::new(text(value))))
}

fn option(value: Option<impl Display>) -> Value {
    Value::Option(value.map(|value| Box::new(text(value))))
}

impl Evaluator<'_, '_> {
    /// Numbers of one type; `None` if one of them is not of that type.
    fn numbers<T: TryFrom<i128>>(&mut self, of: &[&Expr], ty: &'static str, scope: &Scope) -> Derived<Option<Vec<T>>> {
        let numbers = all(of.iter().map(|number| self.integer(number, scope, ty)))?;
        Ok(numbers.into_iter().map(|number| T::try_from(number).ok()).collect())
    }

    fn date(&mut self, arguments: &[&Expr], scope: &Scope) -> Derived<Option<civil::Date>> {
        let numbers = self.numbers::<i16>(arguments, "i32", scope)?;
        Ok(numbers.and_then(|numbers| {
            let (month, day) = (i8::try_from(numbers[1]).ok()?, i8::try_from(numbers[2]).ok()?);
            civil::Date::new(numbers[0], month, day).ok()
        }))
    }

    fn time(&mut self, arguments: &[&Expr], scope: &Scope) -> Derived<Option<civil::Time>> {
        let numbers = self.numbers::<i8>(arguments, "i32", scope)?;
        Ok(numbers.and_then(|numbers| civil::Time::new(numbers[0], numbers[1], numbers[2], 0).ok()))
    }
}
