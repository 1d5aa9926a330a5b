//! Kubernetes' own types: quantities, URLs, addresses, versions, named formats.
//!
//! Source: `pkg/cel/library` of k8s.io/apiserver.

use std::cmp::Ordering;
use std::rc::Rc;

use semver::Version;

use super::super::network::{Cidr, Ip};
use super::super::quantity::Quantity;
use super::super::value::{Failure, Outcome, Value, error, no_overload};
use super::strings::texts;
use crate::format::{self, is_dns_1035_label, is_dns_label, is_name_part, is_qualified_name};
use crate::go::url;
use crate::version;

pub fn call(name: &str, member: bool, args: &[Value]) -> Option<Outcome> {
    if let Some(format) = name.strip_prefix("format.") {
        return named_format(format, args);
    }
    let (first, rest) = args.split_first()?;
    match first {
        Value::String(text) if !member => of_text(name, text, rest),
        Value::Quantity(quantity) => of_quantity(name, quantity, rest),
        Value::Url(url) => of_url(name, url),
        Value::Ip(ip) => of_ip(name, *ip),
        Value::Cidr(cidr) => of_cidr(name, *cidr, rest),
        Value::Semver(version) => of_version(name, version, rest),
        Value::Format(format) => match (name, rest) {
            ("validate", [Value::String(text)]) => Some(validate(format, text)),
            _ => None,
        },
        _ => None,
    }
}

fn of_text(name: &str, text: &str, rest: &[Value]) -> Option<Outcome> {
    let version = || match rest {
        [] | [Value::Bool(false)] => version::parse(text),
        _ => version::parse(&version::complete(text)?),
    };
    let is = |found: bool| Ok(Value::Bool(found));
    let wrong = |what: &str| error(format!("{what} parse error during conversion from string: {text:?}"));
    Some(match name {
        "quantity" => Quantity::parse(text).map(Value::Quantity),
        "isQuantity" => match Quantity::parse(text) {
            Err(failure @ Failure::Unknown(_)) => Err(failure),
            parsed => is(parsed.is_ok()),
        },
        "url" => url::parse_absolute(text).map_or_else(|| wrong("URL"), |url| Ok(Value::Url(Rc::new(url)))),
        "isURL" => is(url::parse_request_uri(text).is_some()),
        "ip" => Ip::parse(text).map_or_else(|| wrong("IP address"), |ip| Ok(Value::Ip(ip))),
        "isIP" => is(Ip::parse(text).is_some()),
        "ip.isCanonical" => Ip::parse(text).map_or_else(|| wrong("IP address"), |ip| is(ip.0.to_string() == text)),
        "cidr" => Cidr::parse(text).map_or_else(|| wrong("network address"), |cidr| Ok(Value::Cidr(cidr))),
        "isCIDR" => is(Cidr::parse(text).is_some()),
        "semver" => version().map_or_else(|| wrong("version"), |version| Ok(Value::Semver(Rc::new(version)))),
        "isSemver" => is(version().is_some()),
        _ => return None,
    })
}

fn of_quantity(name: &str, quantity: &Quantity, rest: &[Value]) -> Option<Outcome> {
    let is = |wanted: Ordering| move |ordering: Ordering| Value::Bool(ordering == wanted);
    Some(match (name, rest) {
        ("sign", []) => Ok(Value::Int(quantity.sign())),
        ("isInteger", []) => Ok(Value::Bool(quantity.as_integer().is_some())),
        ("asInteger", []) => quantity
            .as_integer()
            .map_or_else(|| error("cannot convert value to integer"), |value| Ok(Value::Int(value))),
        ("asApproximateFloat", []) => Ok(Value::Double(quantity.as_float())),
        ("add", [Value::Quantity(other)]) => quantity.add(other).map(Value::Quantity),
        ("add", [Value::Int(other)]) => quantity.add(&Quantity::integer(*other)).map(Value::Quantity),
        ("sub", [Value::Quantity(other)]) => quantity.sub(other).map(Value::Quantity),
        ("sub", [Value::Int(other)]) => quantity.sub(&Quantity::integer(*other)).map(Value::Quantity),
        ("isLessThan", [Value::Quantity(other)]) => quantity.compare(other).map(is(Ordering::Less)),
        ("isGreaterThan", [Value::Quantity(other)]) => quantity.compare(other).map(is(Ordering::Greater)),
        ("compareTo", [Value::Quantity(other)]) => quantity.compare(other).map(|ordering| Value::Int(ordering as i64)),
        _ => return None,
    })
}

fn of_url(name: &str, url: &url::Url) -> Option<Outcome> {
    Some(Ok(match name {
        "getScheme" => Value::string(&url.scheme),
        "getHost" => Value::string(&url.host),
        "getHostname" => Value::string(url.hostname()),
        "getPort" => Value::string(url.port()),
        "getEscapedPath" => Value::string(url.escaped_path()),
        "getQuery" => {
            let mut all: Vec<(String, Vec<String>)> = Vec::new();
            for (name, value) in url.parameters() {
                match all.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, values)) => values.push(value),
                    None => all.push((name, vec![value])),
                }
            }
            let entry =
                |(name, list): (String, Vec<String>)| (Value::string(name), texts(list.iter().map(String::as_str)));
            Value::map(all.into_iter().map(entry).collect())
        }
        _ => return None,
    }))
}

fn of_ip(name: &str, ip: Ip) -> Option<Outcome> {
    Some(Ok(match name {
        "family" => Value::Int(ip.family()),
        "isUnspecified" => Value::Bool(ip.0.is_unspecified()),
        "isLoopback" => Value::Bool(ip.0.is_loopback()),
        "isLinkLocalMulticast" => Value::Bool(ip.is_link_local_multicast()),
        "isLinkLocalUnicast" => Value::Bool(ip.is_link_local_unicast()),
        "isGlobalUnicast" => Value::Bool(ip.is_global_unicast()),
        _ => return None,
    }))
}

fn of_cidr(name: &str, cidr: Cidr, rest: &[Value]) -> Option<Outcome> {
    let wrong = |text: &str| error(format!("parse error during conversion from string: {text:?}"));
    Some(match (name, rest) {
        ("containsIP", [Value::Ip(ip)]) => Ok(Value::Bool(cidr.contains_ip(*ip))),
        ("containsIP", [Value::String(text)]) => {
            Ip::parse(text).map_or_else(|| wrong(text), |ip| Ok(Value::Bool(cidr.contains_ip(ip))))
        }
        ("containsCIDR", [Value::Cidr(other)]) => Ok(Value::Bool(cidr.contains(*other))),
        ("containsCIDR", [Value::String(text)]) => {
            Cidr::parse(text).map_or_else(|| wrong(text), |other| Ok(Value::Bool(cidr.contains(other))))
        }
        ("ip", []) => Ok(Value::Ip(cidr.ip)),
        ("prefixLength", []) => Ok(Value::Int(cidr.bits.into())),
        ("masked", []) => Ok(Value::Cidr(cidr.masked())),
        _ => return None,
    })
}

fn of_version(name: &str, version: &Version, rest: &[Value]) -> Option<Outcome> {
    let number = |number: u64| Ok(Value::Int(number as i64));
    Some(match (name, rest) {
        ("major", []) => number(version.major),
        ("minor", []) => number(version.minor),
        ("patch", []) => number(version.patch),
        ("isLessThan", [Value::Semver(other)]) => Ok(Value::Bool(version.cmp_precedence(other).is_lt())),
        ("isGreaterThan", [Value::Semver(other)]) => Ok(Value::Bool(version.cmp_precedence(other).is_gt())),
        ("compareTo", [Value::Semver(other)]) => Ok(Value::Int(version.cmp_precedence(other) as i64)),
        _ => return None,
    })
}

const FORMATS: [&str; 13] = [
    "byte",
    "date",
    "datetime",
    "dns1035Label",
    "dns1035LabelPrefix",
    "dns1123Label",
    "dns1123LabelPrefix",
    "dns1123Subdomain",
    "dns1123SubdomainPrefix",
    "labelValue",
    "qualifiedName",
    "uri",
    "uuid",
];

fn named_format(name: &str, args: &[Value]) -> Option<Outcome> {
    let find = |name: &str| FORMATS.into_iter().find(|format| *format == name);
    match (name, args) {
        ("named", [Value::String(name)]) => {
            Some(Ok(find(name).map_or(Value::NONE, |format| Value::some(Value::Format(format)))))
        }
        (name, []) => Some(find(name).map_or_else(no_overload, |format| Ok(Value::Format(format)))),
        _ => None,
    }
}

/// Validates a text against a named format and returns the optional list of errors. Source:
/// `pkg/cel/library/format.go`, and `pkg/util/validation` of k8s.io/apimachinery for the messages.
fn validate(format: &str, text: &str) -> Outcome {
    const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
    const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let too_long = |most: usize| (text.len() > most).then(|| format!("must be no more than {most} characters"));
    // A prefix may end with a character that is only allowed before a letter.
    let masked = match text.strip_suffix('-') {
        Some(start) if format.ends_with("Prefix") => format!("{start}a"),
        _ => text.to_owned(),
    };
    // Applies the rule without its length limit.
    let short = |rule: &dyn Fn(&str) -> bool, problem: &str| {
        let body = if masked.len() > 63 { is_long(&masked, rule) } else { rule(&masked) };
        (!body).then(|| problem.to_owned())
    };
    let problems: Vec<String> = match format.trim_end_matches("Prefix") {
        "dns1123Label" => too_long(63).into_iter().chain(short(&is_dns_label, LABEL)).collect(),
        "dns1035Label" => too_long(63).into_iter().chain(short(&is_dns_1035_label, LABEL_1035)).collect(),
        "dns1123Subdomain" => {
            let is_name = format::is_name(&masked);
            too_long(253).into_iter().chain((!is_name).then(|| SUBDOMAIN.to_owned())).collect()
        }
        "labelValue" => {
            let is_value = |text: &str| text.is_empty() || is_name_part(text);
            too_long(63).into_iter().chain(short(&is_value, VALUE)).collect()
        }
        "qualifiedName" if is_qualified_name(text) => Vec::new(),
        "uuid" if format::check(text, "uuid") == Some(true) => Vec::new(),
        "byte" if format::check(text, "byte") == Some(true) => Vec::new(),
        "date" if format::check(text, "date") == Some(true) => Vec::new(),
        "datetime" if format::check(text, "date-time") == Some(true) => Vec::new(),
        "uri" if format::check(text, "uri") == Some(true) => Vec::new(),
        "uuid" => vec!["does not match the UUID format".to_owned()],
        "byte" => vec!["invalid base64".to_owned()],
        "date" => vec!["invalid date".to_owned()],
        "datetime" => vec!["invalid datetime".to_owned()],
        // The list exists, but its messages are Go's error texts.
        _ => {
            return Ok(Value::some(Value::list(vec![Value::Broken(Failure::Unknown(format!(
                "the message of `{format}`"
            )))])));
        }
    };
    if problems.is_empty() { Ok(Value::NONE) } else { Ok(Value::some(texts(problems.iter().map(String::as_str)))) }
}

/// Applies a rule for short texts to a long one. The rules depend only on the first, the last and each single
/// character.
fn is_long(text: &str, rule: &dyn Fn(&str) -> bool) -> bool {
    let ends = |text: &str| Some((text.chars().next()?, text.chars().next_back()?));
    ends(text).is_some_and(|(first, last)| {
        rule(&format!("{first}{last}")) && text.chars().all(|c| rule(&format!("{first}{c}{last}")))
    })
}
