//! Formats of strings: those of `format` in schemas, and names of Kubernetes.
//!
//! Source: `pkg/validation/strfmt` and `pkg/internal/third_party/govalidator` of k8s.io/kube-openapi.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

use crate::go::{time, url};
use crate::pattern::{self, Regex};

/// Checks a text against a `format` of a schema, e.g. `date-time`. Hyphens in the name of the format are ignored.
/// `None` if the format is unknown, or if the result cannot be determined, as for an email address with comments.
pub fn check(text: &str, format: &str) -> Option<bool> {
    let is = |pattern: &str| matches(text, pattern);
    Some(match format.replace('-', "").as_str() {
        "bsonobjectid" => is("^[0-9a-fA-F]{24}$"),
        "byte" => is("^(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})$"),
        "cidr" => is_cidr(text),
        "creditcard" => is_credit_card(text),
        "date" => time::is_date(text),
        "datetime" => is_date_time(text),
        "duration" => parse_duration(text).is_some(),
        "email" => return is_email(text),
        "hexcolor" => is("^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"),
        "hostname" => {
            is(
                r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$",
            ) && text.len() <= 255
                && text.split('.').all(|part| part.len() <= 63)
        }
        "ipv4" => parse_ip(text).is_some() && text.contains('.'),
        "ipv6" => text.contains(':') && text.parse::<IpAddr>().is_ok(),
        "isbn" => is_isbn(text, 10) || is_isbn(text, 13),
        "isbn10" => is_isbn(text, 10),
        "isbn13" => is_isbn(text, 13),
        "k8slongname" => is_long_name(text),
        "k8sshortname" => text.len() <= 63 && is("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"),
        // Go 1.26 accepts addresses without separators, earlier releases do not.
        "mac" if is("^([0-9a-fA-F]{12}|[0-9a-fA-F]{16}|[0-9a-fA-F]{40})$") => return None,
        "mac" => is_mac(text),
        "password" => true,
        "rgbcolor" => {
            let part = r"\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*";
            is(&format!(r"^rgb\({part},{part},{part}\)$"))
        }
        "ssn" => text.len() == 11 && is(r"^\d{3}[- ]?\d{2}[- ]?\d{4}$"),
        "uri" => url::parse_request_uri(text).is_some(),
        "uuid" => is_uuid(text, "[0-9a-f]{4}", "[0-9a-f]{4}"),
        "uuid3" => is_uuid(text, "3[0-9a-f]{3}", "[0-9a-f]{4}"),
        "uuid4" => is_uuid(text, "4[0-9a-f]{3}", "[89ab][0-9a-f]{3}"),
        "uuid5" => is_uuid(text, "5[0-9a-f]{3}", "[89ab][0-9a-f]{3}"),
        _ => return None,
    })
}

fn matches(text: &str, pattern: &str) -> bool {
    thread_local! {
        /// Compiling an expression takes longer than the rest of a check.
        static COMPILED: RefCell<HashMap<String, Regex>> = RefCell::default();
    }
    let compile = || pattern::compile(pattern).expect("a pattern of Kubernetes itself");
    COMPILED.with_borrow_mut(|all| all.entry(pattern.to_owned()).or_insert_with(compile).is_match(text))
}

/// `true` for valid names of most objects: lowercase letters, digits, `-` and `.`, at most 253 characters.
pub fn is_long_name(text: &str) -> bool {
    text.len() <= 253 && is_name(text)
}

/// The pattern of [`is_long_name`], without its length limit.
pub(crate) fn is_name(text: &str) -> bool {
    matches(text, r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
}

/// Accepts leading zeros, as `netutils.ParseIPSloppy` does.
fn parse_ip(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse().ok();
    }
    let mut octets = [0; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next().filter(|part| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit()))?;
        *octet = part.parse().ok()?;
    }
    parts.next().is_none().then(|| Ipv4Addr::from(octets).into())
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let max = if address.contains(':') { 128 } else { 32 };
    parse_ip(address).is_some()
        && length.bytes().all(|c| c.is_ascii_digit())
        && length.parse::<u32>().is_ok_and(|length| length <= max)
}

fn is_uuid(text: &str, third: &str, fourth: &str) -> bool {
    matches(text, &format!("(?i)^[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{third}-?{fourth}-?[0-9a-f]{{12}}$"))
}

fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    let is_time = matches(time, r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$");
    time::is_date(date) && is_time && &time[..2] <= "23" && &time[3..5] <= "59" && &time[6..8] <= "59"
}

/// Duration in nanoseconds. Accepts Go's syntax, else the sum of all numbers in the text with a unit of Scala's
/// `Duration`.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    if let Some(nanos) = time::parse_duration(text) {
        return Some(nanos);
    }
    // Units may be followed by further letters: `milliseconds`.
    const UNITS: [(&[&str], &str, i64); 8] = [
        (&["ns"], "nano", 1),
        (&["us", "\u{b5}s"], "micro", 1_000),
        (&["ms"], "milli", 1_000_000),
        (&["s"], "sec", 1_000_000_000),
        (&["m"], "min", 60_000_000_000),
        (&["h", "hr"], "hour", 3_600_000_000_000),
        (&["d"], "day", 86_400_000_000_000),
        (&["w", "wk"], "week", 604_800_000_000_000),
    ];
    let matcher = pattern::compile("((\\d+)\\s*([A-Za-z\u{b5}]+))").expect("a pattern of Kubernetes itself");
    let mut sum: Option<i64> = None;
    for part in matcher.captures_iter(text) {
        let number: i64 = part[2].parse().ok()?;
        let unit = part[3].to_lowercase();
        for (_, _, nanos) in
            UNITS.iter().filter(|(names, last, _)| names.contains(&unit.as_str()) || unit.starts_with(last))
        {
            sum = Some(sum.unwrap_or_default().wrapping_add(number.wrapping_mul(*nanos)));
        }
    }
    sum
}

/// Decides plain addresses only. `None` for other syntax of Go's `mail.ParseAddress` (`Name <a@b>`, quotes, comments).
fn is_email(text: &str) -> Option<bool> {
    let atom = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
    if matches(text, &format!(r"^{atom}(\.{atom})*@{atom}(\.{atom})*$")) {
        return Some(true);
    }
    let is_plain = text.bytes().all(|c| c.is_ascii_alphanumeric() || b"@.-_+".contains(&c));
    if is_plain || !text.contains('@') { Some(false) } else { None }
}

fn is_mac(text: &str) -> bool {
    let pair = "[0-9a-fA-F]{2}";
    [":", "-"]
        .iter()
        .any(|sign| [6, 8, 20].iter().any(|bytes| matches(text, &format!("^{pair}({sign}{pair}){{{}}}$", bytes - 1))))
        || [3, 4, 10]
            .iter()
            .any(|groups| matches(text, &format!(r"^[0-9a-fA-F]{{4}}(\.[0-9a-fA-F]{{4}}){{{}}}$", groups - 1)))
}

fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let sum = digits.bytes().rev().enumerate().fold(0, |sum, (at, digit)| {
        let digit = u32::from(digit - b'0') * if at % 2 == 1 { 2 } else { 1 };
        sum + if digit >= 10 { digit - 9 } else { digit }
    });
    matches(
        &digits,
        r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$",
    ) && sum % 10 == 0
}

fn is_isbn(text: &str, digits: usize) -> bool {
    let plain: Vec<u32> = text
        .chars()
        .filter(|c| *c != '-' && !matches!(c, ' ' | '\t' | '\n' | '\u{c}' | '\r'))
        .map(|c| if c == 'X' { 10 } else { c.to_digit(10).unwrap_or(99) })
        .collect();
    let Some((last, rest)) = plain.split_last() else { return false };
    if plain.len() != digits || rest.iter().any(|digit| *digit > 9) {
        return false;
    }
    let weighted =
        |weight: &dyn Fn(usize) -> u32| -> u32 { rest.iter().enumerate().map(|(at, digit)| weight(at) * digit).sum() };
    match digits {
        10 => *last <= 10 && (weighted(&|at| at as u32 + 1) + 10 * last).is_multiple_of(11),
        _ => *last <= 9 && *last == (10 - weighted(&|at| [1, 3][at % 2]) % 10) % 10,
    }
}

/// RFC 1123 label.
pub(crate) fn is_dns_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=63).contains(&text.len())
        && text.chars().all(|c| inner(c) || c == '-')
        && text.starts_with(inner)
        && text.ends_with(inner)
}

/// RFC 1035 label: an RFC 1123 label that starts with a letter.
pub(crate) fn is_dns_1035_label(text: &str) -> bool {
    is_dns_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase())
}

/// `true` for valid keys of labels and annotations: `name` or `domain/name`.
pub fn is_qualified_name(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => is_long_name(prefix) && is_name_part(name),
        None => is_name_part(key),
    }
}

/// `true` for valid names in qualified names and for non-empty values of labels: letters, digits, `-`, `_` and `.`, at
/// most 63 characters.
pub fn is_name_part(text: &str) -> bool {
    let outer = |c: char| c.is_ascii_alphanumeric();
    (1..=63).contains(&text.len())
        && text.chars().all(|c| outer(c) || "-_.".contains(c))
        && text.starts_with(outer)
        && text.ends_with(outer)
}
