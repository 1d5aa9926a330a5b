//! What a schema says of single values: enumerations, limits, patterns, formats.

use serde_json::Value;

use super::{list, text};

pub struct Difference {
    pub message: String,
    pub effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Values that were valid are refused.
    Tighter,
    /// Values are valid that readers may not be able to decode.
    Wider,
    /// Values are valid that were refused, of the same kind.
    Looser,
}

use Effect::{Looser, Tighter, Wider};

/// Whether this keyword is compared here.
pub fn knows(key: &str) -> bool {
    LIMITS.iter().any(|(name, _)| *name == key)
        || matches!(
            key,
            "enum" | "pattern" | "format" | "multipleOf" | "uniqueItems" | "exclusiveMaximum" | "exclusiveMinimum"
        )
}

/// Limits, and whether they are upper ones.
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

/// All differences between what two schemas of the same type say of a value.
pub fn compare(old: &Value, new: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut add = |effect, message: String| found.push(Difference { message, effect });
    enumerations(old, new, &mut add);
    let narrow = narrow_types(old);
    for (key, is_upper) in LIMITS {
        let (was, is) = (old[key].as_f64(), new[key].as_f64());
        let [was_shown, is_shown] = [&old[key], &new[key]].map(number);
        match (was, is) {
            // No value is below it: that of a `Vec` or a text without a limit.
            (None, Some(0.0)) if !is_upper && key != "minimum" => {}
            (None, Some(_)) => add(Tighter, format!("`{key}` is new: {is_shown}")),
            (Some(was), Some(is)) if was != is => {
                let effect = match (is < was) == is_upper {
                    true => Tighter,
                    false if narrow.contains(&key) && (key != "minimum" || is < 0.0) => Wider,
                    false => Looser,
                };
                add(effect, format!("`{key}` changes from {was_shown} to {is_shown}"));
            }
            (Some(_), None) => {
                let effect = if narrow.contains(&key) { Wider } else { Looser };
                add(effect, format!("`{key}` is gone: {was_shown}"));
            }
            _ => {}
        }
    }
    for key in ["exclusiveMaximum", "exclusiveMinimum", "uniqueItems"] {
        match (old[key] == true, new[key] == true) {
            (false, true) => add(Tighter, format!("`{key}` is new")),
            (true, false) => add(Looser, format!("`{key}` is gone")),
            _ => {}
        }
    }
    match (old["multipleOf"].as_f64(), new["multipleOf"].as_f64()) {
        (None, Some(_)) => add(Tighter, format!("`multipleOf` is new: {}", number(&new["multipleOf"]))),
        (Some(_), None) => add(Looser, "`multipleOf` is gone".into()),
        (Some(was), Some(is)) if was != is => {
            // What is a multiple of 6 is one of 3.
            let effect = if was % is == 0.0 { Looser } else { Tighter };
            add(
                effect,
                format!("`multipleOf` changes from {} to {}", number(&old["multipleOf"]), number(&new["multipleOf"])),
            );
        }
        _ => {}
    }
    match (old["pattern"].as_str(), new["pattern"].as_str()) {
        (None, Some(is)) => add(Tighter, format!("`pattern` is new: `{is}`")),
        (Some(was), Some(is)) if was != is => add(Tighter, format!("`pattern` changes from `{was}` to `{is}`")),
        (Some(was), None) => add(Looser, format!("`pattern` is gone: `{was}`")),
        _ => {}
    }
    match (old["format"].as_str(), new["format"].as_str()) {
        (was, is) if was == is => {}
        (Some("int32"), Some("int64")) => add(Wider, "`format` changes from `int32` to `int64`".into()),
        (Some("float"), Some("double")) => add(Wider, "`format` changes from `float` to `double`".into()),
        (Some(was), Some(is)) if !is_checked(was) && !is_checked(is) => {
            add(Wider, format!("`format` changes from `{was}` to `{is}`"));
        }
        (Some(was), None) => add(Wider, format!("`format` is gone: `{was}`")),
        // Formats that the API server does not check are those of Rust's integers.
        (None, Some(is)) if !is_checked(is) => add(Looser, format!("`format` is new: `{is}`")),
        (None, Some(is)) => add(Tighter, format!("`format` is new: `{is}`")),
        (Some(was), Some(is)) => add(Tighter, format!("`format` changes from `{was}` to `{is}`")),
        (None, None) => {}
    }
    found
}

/// The limits that Rust types have, which decode no other values: unsigned numbers, arrays and characters.
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

/// Formats of numbers beside `int32` and `int64` are for readers.
fn is_checked(format: &str) -> bool {
    !matches!(format, "uint" | "uint8" | "uint16" | "uint32" | "uint64" | "int8" | "int16" | "int" | "float" | "double")
}

fn enumerations(old: &Value, new: &Value, add: &mut impl FnMut(Effect, String)) {
    let shown =
        |values: &[&Value]| values.iter().map(|value| format!("`{}`", bare(value))).collect::<Vec<_>>().join(", ");
    match (old.get("enum"), new.get("enum")) {
        (Some(was), Some(is)) => {
            let missing: Vec<&Value> = list(was).iter().filter(|value| !list(is).contains(value)).collect();
            let added: Vec<&Value> = list(is).iter().filter(|value| !list(was).contains(value)).collect();
            if !missing.is_empty() {
                add(Tighter, format!("no longer one of the values: {}", shown(&missing)));
            }
            if !added.is_empty() {
                add(Wider, format!("new among the values: {}", shown(&added)));
            }
        }
        (None, Some(is)) => {
            add(Tighter, format!("only these values are valid: {}", shown(&list(is).iter().collect::<Vec<_>>())))
        }
        (Some(_), None) => add(Wider, "every value is valid".into()),
        (None, None) => {}
    }
}

fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `5`, as people write it, instead of `5.0`.
fn number(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if number.fract() == 0.0 => format!("{number:.0}"),
        Some(number) => number.to_string(),
        None => text(value).to_owned(),
    }
}
