//! Compares the keywords for single values: enums, limits, patterns, formats.

use serde_json::Value;

use super::probe::{Narrowing, Probe};
use super::{list, text};

pub struct Difference {
    pub message: String,
    pub effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Valid values become invalid.
    Tighter,
    /// Valid values become invalid that types of the old `format` could not decode.
    TighterThanTypes,
    /// Invalid values become valid that readers may fail to decode.
    Wider,
    /// Invalid values of the same kind become valid.
    Looser,
}

use Effect::{Looser, Tighter, TighterThanTypes, Wider};

/// `true` if this module compares the keyword.
pub fn knows(key: &str) -> bool {
    LIMITS.iter().any(|(name, _)| *name == key)
        || matches!(
            key,
            "enum" | "pattern" | "format" | "multipleOf" | "uniqueItems" | "exclusiveMaximum" | "exclusiveMinimum"
        )
}

/// Limits; `true` for upper limits.
const LIMITS: [(&str, bool); 8] = [
    ("maximum", true),
    ("maxLength", true),
    ("maxItems", true),
    ("maxProperties", true),
    ("minimum", false),
    ("minLength", false),
    ("minItems", false),
    ("minProperties", false),
];

/// The differences between the keywords for single values, given schemas of the same type.
pub fn compare(old: &Value, new: &Value) -> Vec<Difference> {
    let probe = Probe::of(old, new);
    let mut found = enumerations(old, new, &probe);
    limits(old, new, &probe, &mut found);
    for (key, limit) in
        [("exclusiveMaximum", "maximum"), ("exclusiveMinimum", "minimum"), ("uniqueItems", "uniqueItems")]
    {
        match (old[key] == true, new[key] == true) {
            // If the limit changes as well, the difference is reported for both keywords together.
            (false, true) if old[limit].as_f64() == new[limit].as_f64() => {
                found.extend(tighter(&probe, &[key], format!("`{key}` is new")));
            }
            (true, false) => found.push(Difference { effect: Looser, message: format!("`{key}` was removed") }),
            _ => {}
        }
    }
    factors(old, new, &probe, &mut found);
    match (old["pattern"].as_str(), new["pattern"].as_str()) {
        (was, is) if was == is => {}
        (_, None) => {
            let message = format!("`pattern` was removed: `{}`", text(&old["pattern"]));
            found.push(Difference { effect: Looser, message });
        }
        (None, Some(is)) => found.extend(tighter(&probe, &["pattern"], format!("`pattern` is new: `{is}`"))),
        (Some(was), Some(is)) => {
            let message = format!("`pattern` changes from `{was}` to `{is}`");
            found.extend(tighter(&probe, &["pattern"], message));
        }
    }
    found.extend(formats(old, new, &probe));
    found
}

/// A difference that makes values invalid; `None` if it affects no value of the old schema.
fn tighter(probe: &Probe, keys: &[&str], message: String) -> Option<Difference> {
    let effect = match probe.narrowing(keys) {
        Narrowing::Nothing => return None,
        Narrowing::Refuses(_) | Narrowing::Unknown => Tighter,
        Narrowing::RefusesUndecodable(_) => TighterThanTypes,
    };
    Some(Difference { message, effect })
}

fn limits(old: &Value, new: &Value, probe: &Probe, found: &mut Vec<Difference>) {
    let narrow = narrow_types(old);
    for (key, is_upper) in LIMITS {
        let (was, is) = (old[key].as_f64(), new[key].as_f64());
        let [was_shown, is_shown] = [&old[key], &new[key]].map(number);
        let message = match (was, is) {
            (Some(was), Some(is)) if was != is => format!("`{key}` changes from {was_shown} to {is_shown}"),
            (None, Some(_)) => format!("`{key}` is new: {is_shown}"),
            (Some(_), None) => format!("`{key}` was removed: {was_shown}"),
            _ => continue,
        };
        let is_tighter = match (was, is) {
            (Some(was), Some(is)) => (is < was) == is_upper,
            (was, _) => was.is_none(),
        };
        if is_tighter {
            let keys: &[&str] = match key {
                "maximum" => &["maximum", "exclusiveMaximum"],
                "minimum" => &["minimum", "exclusiveMinimum"],
                // A minimum of 0 excludes no value, such as that of a `Vec` or a string.
                _ if is == Some(0.0) && !is_upper => continue,
                key => &[key],
            };
            found.extend(tighter(probe, keys, message));
        } else {
            let is_signed = key != "minimum" || is.is_none_or(|is| is < 0.0);
            let effect = if narrow.contains(&key) && is_signed { Wider } else { Looser };
            found.push(Difference { message, effect });
        }
    }
}

fn factors(old: &Value, new: &Value, probe: &Probe, found: &mut Vec<Difference>) {
    let [was, is] = [&old["multipleOf"], &new["multipleOf"]];
    let message = match (was.as_f64(), is.as_f64()) {
        (was, is) if was == is => return,
        (None, _) => format!("`multipleOf` is new: {}", number(is)),
        (_, None) => "`multipleOf` was removed".into(),
        _ => format!("`multipleOf` changes from {} to {}", number(was), number(is)),
    };
    match tighter(probe, &["multipleOf"], message.clone()) {
        Some(difference) => found.push(difference),
        // All values are multiples of 1.
        None if was.is_null() => {}
        None => found.push(Difference { message, effect: Looser }),
    }
}

fn formats(old: &Value, new: &Value, probe: &Probe) -> Option<Difference> {
    let (was, is) = (old["format"].as_str(), new["format"].as_str());
    let message = match (was, is) {
        (was, is) if was == is => return None,
        (None, is) => format!("`format` is new: `{}`", is.unwrap_or_default()),
        (Some(was), None) => format!("`format` was removed: `{was}`"),
        (Some(was), Some(is)) => format!("`format` changes from `{was}` to `{is}`"),
    };
    let (effect, refused) = match probe.narrowing(&["format"]) {
        Narrowing::Refuses(value) => (Tighter, Some(value)),
        Narrowing::RefusesUndecodable(value) => (TighterThanTypes, Some(value)),
        Narrowing::Unknown => (Tighter, None),
        Narrowing::Nothing if probe.widens_format() => (Wider, None),
        Narrowing::Nothing => (Looser, None),
    };
    let message =
        message + &refused.map(|value| format!(", which does not accept `{}`", bare(&value))).unwrap_or_default();
    Some(Difference { message, effect })
}

/// Limits of Rust types that decode no other values: unsigned numbers, arrays and characters.
fn narrow_types(schema: &Value) -> Vec<&'static str> {
    let mut narrow = Vec::new();
    if schema["minimum"].as_f64().is_some_and(|minimum| minimum >= 0.0) {
        narrow.push("minimum");
    }
    for [low, high] in [["minItems", "maxItems"], ["minLength", "maxLength"]] {
        if schema[low].is_number() && schema[low].as_f64() == schema[high].as_f64() {
            narrow.extend([low, high]);
        }
    }
    narrow
}

fn enumerations(old: &Value, new: &Value, probe: &Probe) -> Vec<Difference> {
    let shown =
        |values: &[&Value]| values.iter().map(|value| format!("`{}`", bare(value))).collect::<Vec<_>>().join(", ");
    let mut found = Vec::new();
    match (old.get("enum"), new.get("enum")) {
        (Some(was), Some(is)) => {
            let missing: Vec<&Value> = list(was).iter().filter(|value| !list(is).contains(value)).collect();
            let added: Vec<&Value> = list(is).iter().filter(|value| !list(was).contains(value)).collect();
            if !missing.is_empty() {
                found.extend(tighter(probe, &["enum"], format!("no longer one of the values: {}", shown(&missing))));
            }
            if !added.is_empty() {
                found.push(Difference { message: format!("new among the values: {}", shown(&added)), effect: Wider });
            }
        }
        (None, Some(is)) => {
            let message = format!("only these values are valid: {}", shown(&list(is).iter().collect::<Vec<_>>()));
            found.extend(tighter(probe, &["enum"], message));
        }
        (Some(_), None) => found.push(Difference { message: "every value is valid".into(), effect: Wider }),
        (None, None) => {}
    }
    found
}

fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `5` instead of `5.0`.
fn number(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if number.fract() == 0.0 => format!("{number:.0}"),
        Some(number) => number.to_string(),
        None => text(value).to_owned(),
    }
}
