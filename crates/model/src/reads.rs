//! The values that serde accepts for the Rust type of a custom resource. A rejected value makes the whole object
//! undecodable.

use serde_json::{Map, Value};

use crate::diagnostic::Span;

/// The JSON values that the `Deserialize` of a type accepts.
#[derive(Clone, Debug)]
pub enum Reads {
    /// Every value, as for `serde_json::Value`.
    Anything,
    /// Unknown and not reported: the types of Kubernetes.
    Unknown,
    /// A function reads the value, such as `#[serde(deserialize_with = "…")]`.
    Code(Box<Code>),
    Null,
    Bool,
    Text,
    /// A string with a maximum length, in bytes.
    ShortText(usize),
    Char,
    Float,
    Integer(Integer),
    /// A string or an integer: the `Quantity` or `IntOrString` of Kubernetes. The latter has 32 bits in Go as well, so
    /// larger integers are not reported.
    IntOrText(&'static str),
    Parsed(&'static Parsed),
    Optional(Box<Reads>),
    List {
        items: Box<Reads>,
        /// The length of an array; `None` for any length.
        length: Option<usize>,
    },
    Tuple(Vec<Reads>),
    Map {
        keys: Box<Reads>,
        values: Box<Reads>,
    },
    /// A string that is parsed as the inner type, as for keys of maps.
    FromText(Box<Reads>),
    Struct(Vec<Part>),
    Enum {
        tag: Tag,
        variants: Vec<Variant>,
    },
    /// The field of a tuple struct or variant in the source, to which an attribute can be added.
    At(Span, Box<Reads>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integer {
    /// The name of the type: `u32`.
    pub name: String,
    pub min: i128,
    pub max: i128,
    pub zero: bool,
}

/// A function that deserializes a value, or converts a deserialized one.
#[derive(Clone, Debug)]
pub struct Code {
    /// As written in source: `parse_schedule`, `cron::Schedule`.
    pub name: String,
    /// Its declaration, if it is in the package.
    pub span: Option<Span>,
    /// The type that the function deserializes first. Everything that this type rejects is rejected.
    pub from: Reads,
    pub refused: Vec<Value>,
    pub knowledge: Knowledge,
}

/// Completeness of `refused`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// The function cannot fail.
    All,
    /// The function was evaluated for many values.
    Tried,
    None,
}

/// A type that is parsed from a string.
#[derive(Debug)]
pub struct Parsed {
    /// As written in source: `chrono::DateTime`.
    pub name: &'static str,
    /// Strings that it rejects, the clearest example first.
    pub refused: &'static [&'static str],
    pub remedy: Remedy,
}

/// A restriction of the schema to the values that a type accepts.
#[derive(Clone, Copy, Debug)]
pub enum Remedy {
    /// A `pattern`.
    Pattern(&'static str),
    /// A CEL expression on `self`, for strings of at most this many characters.
    Rule(&'static str, usize),
    /// No schema can express it.
    None,
}

#[derive(Clone, Debug)]
pub enum Part {
    Field(Field),
    /// `#[serde(flatten)]`
    Flattened(Reads),
    /// `#[serde(deny_unknown_fields)]`
    NoOthers,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    /// Further names that are accepted.
    pub aliases: Vec<String>,
    /// Its declaration, if it is in the package.
    pub span: Option<Span>,
    /// An object without the field is rejected.
    pub required: bool,
    /// A function reads the field, so serde requires it even for an `Option`.
    pub by_function: bool,
    pub reads: Reads,
}

/// The representation of an enum.
#[derive(Clone, Debug)]
pub enum Tag {
    External,
    Internal(String),
    Adjacent { tag: String, content: String },
    Untagged,
}

#[derive(Clone, Debug)]
pub struct Variant {
    /// The name of the variant, then its aliases.
    pub names: Vec<String>,
    /// `#[serde(other)]`
    pub other: bool,
    /// `#[serde(untagged)]`, in an enum with a tag.
    pub untagged: bool,
    /// `None`: a unit variant.
    pub content: Option<Reads>,
}

impl Reads {
    /// `true` if the value is accepted; `None` if only running the code would show it.
    pub fn reads(&self, value: &Value) -> Option<bool> {
        match self {
            Self::Anything => Some(true),
            Self::Unknown => None,
            Self::Code(code) => code.verdict(value, code.from.reads(value)),
            Self::Null => Some(value.is_null()),
            Self::Bool => Some(value.is_boolean()),
            Self::Text => Some(value.is_string()),
            Self::ShortText(max) => Some(value.as_str().is_some_and(|text| text.len() <= *max)),
            Self::Char => Some(value.as_str().is_some_and(|text| text.chars().count() == 1)),
            Self::Float => Some(value.is_number()),
            Self::Integer(integer) => Some(integer.reads(value)),
            Self::IntOrText(_) => Some(value.is_string() || value.is_i64()),
            Self::Parsed(parsed) => match value.as_str() {
                Some(text) if !parsed.refused.contains(&text) => None,
                _ => Some(false),
            },
            Self::Optional(inner) => {
                if value.is_null() {
                    Some(true)
                } else {
                    inner.reads(value)
                }
            }
            Self::List { items, length } => {
                let Value::Array(list) = value else { return Some(false) };
                if length.is_some_and(|length| length != list.len()) {
                    return Some(false);
                }
                all(list.iter().map(|item| items.reads(item)))
            }
            Self::Tuple(items) => {
                let Value::Array(list) = value else { return Some(false) };
                if items.len() != list.len() {
                    return Some(false);
                }
                all(items.iter().zip(list).map(|(item, value)| item.reads(value)))
            }
            Self::Map { keys, values } => {
                let Value::Object(map) = value else { return Some(false) };
                all(map.iter().flat_map(|(key, value)| [keys.reads_key(key), values.reads(value)]))
            }
            Self::FromText(inner) => value.as_str().map_or(Some(false), |text| inner.reads_key(text)),
            Self::Struct(parts) => match value {
                Value::Object(map) => read_struct(parts, map),
                // A list of the fields in order is accepted, but nobody writes one.
                Value::Array(_) => None,
                _ => Some(false),
            },
            Self::Enum { tag, variants } => read_enum(tag, variants, value),
            Self::At(_, inner) => inner.reads(value),
        }
    }

    /// Like [`reads`](Self::reads), for a key of a map, which serde_json parses.
    pub fn reads_key(&self, key: &str) -> Option<bool> {
        match self {
            Self::Integer(integer) => Some(key.parse().is_ok_and(|number| integer.has(number))),
            Self::Float => Some(key.parse::<f64>().is_ok()),
            Self::Bool => Some(matches!(key, "true" | "false")),
            Self::Optional(inner) | Self::At(_, inner) => inner.reads_key(key),
            Self::Code(code) => code.verdict(&key.into(), code.from.reads_key(key)),
            reads => reads.reads(&key.into()),
        }
    }

    /// The type without wrappers.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::At(_, inner) | Self::Optional(inner) => inner.innermost(),
            Self::Code(code) if code.refused.is_empty() => code.from.innermost(),
            reads => reads,
        }
    }

    /// `true` if serde accepts a missing field of this type; `None` if only running the code would show it.
    pub fn reads_missing(&self) -> Option<bool> {
        match self {
            Self::Optional(_) => Some(true),
            Self::Unknown => None,
            Self::At(_, inner) => inner.reads_missing(),
            Self::Code(code) => code.from.reads_missing().filter(|reads| !reads || code.knowledge == Knowledge::All),
            _ => Some(false),
        }
    }
}

impl Code {
    /// Combines the result for the deserialized type (`read`) with the knowledge about the function.
    fn verdict(&self, value: &Value, read: Option<bool>) -> Option<bool> {
        match read {
            Some(false) => Some(false),
            _ if self.refused.contains(value) => Some(false),
            read => read.filter(|_| self.knowledge == Knowledge::All),
        }
    }
}

impl Integer {
    fn reads(&self, value: &Value) -> bool {
        let integer = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
        integer.is_some_and(|integer| self.has(integer))
    }

    fn has(&self, integer: i128) -> bool {
        (self.min..=self.max).contains(&integer) && (self.zero || integer != 0)
    }
}

/// `true` if all answers are, `false` if one is.
fn all(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(true);
    for answer in answers {
        match answer {
            Some(true) => {}
            Some(false) => return Some(false),
            None => all = None,
        }
    }
    all
}

/// `true` if one answer is, `false` if all are.
fn any(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all(answers.map(|answer| answer.map(|reads| !reads))).map(|refuses| !refuses)
}

fn read_struct(parts: &[Part], map: &Map<String, Value>) -> Option<bool> {
    let mut rest = map.clone();
    let mut answers = Vec::new();
    for part in parts {
        let Part::Field(field) = part else { continue };
        let names = std::iter::once(&field.name).chain(&field.aliases);
        let found: Vec<Value> = names.filter_map(|name| rest.remove(name)).collect();
        answers.push(match found.as_slice() {
            [] => Some(!field.required),
            [value] => field.reads.reads(value),
            // serde rejects a duplicate field.
            _ => Some(false),
        });
    }
    if parts.iter().any(|part| matches!(part, Part::NoOthers)) {
        answers.push(Some(rest.keys().all(|name| takes(parts, name))));
    }
    let rest = Value::Object(rest);
    for part in parts {
        match part {
            // A flattened option that does not match is `None`.
            Part::Field(_) | Part::NoOthers | Part::Flattened(Reads::Optional(_)) => {}
            Part::Flattened(reads) => answers.push(match reads.reads(&rest) {
                // Its fields depend on the other flattened parts.
                Some(false) if matches!(reads, Reads::Map { .. }) => None,
                answer => answer,
            }),
        }
    }
    all(answers.into_iter())
}

/// `true` if a struct has a field of this name.
pub fn takes(parts: &[Part], name: &str) -> bool {
    parts.iter().any(|part| match part {
        Part::Field(field) => field.name == name || field.aliases.iter().any(|alias| alias == name),
        Part::Flattened(reads) => match reads.innermost() {
            Reads::Struct(parts) => takes(parts, name),
            _ => true,
        },
        Part::NoOthers => false,
    })
}

fn read_enum(tag: &Tag, variants: &[Variant], value: &Value) -> Option<bool> {
    let (untagged, tagged): (Vec<&Variant>, Vec<&Variant>) =
        variants.iter().partition(|variant| variant.untagged || matches!(tag, Tag::Untagged));
    let untagged = untagged.into_iter().map(|variant| variant.content.as_ref().unwrap_or(&Reads::Null).reads(value));
    any(std::iter::once(read_tagged(tag, &tagged, value)).chain(untagged))
}

fn read_tagged(tag: &Tag, variants: &[&Variant], value: &Value) -> Option<bool> {
    let named = |name: &str| {
        let has_name = |variant: &&&Variant| variant.names.iter().any(|own| own == name);
        variants.iter().find(has_name).or_else(|| variants.iter().find(|variant| variant.other))
    };
    match (tag, value) {
        (Tag::Untagged, _) => Some(false),
        (Tag::External, Value::String(name)) => Some(named(name).is_some_and(|variant| variant.content.is_none())),
        (Tag::External, Value::Object(map)) => {
            let mut entries = map.iter();
            let (Some((name, value)), None) = (entries.next(), entries.next()) else { return Some(false) };
            match named(name).map(|variant| &variant.content) {
                None => Some(false),
                Some(Some(content)) => content.reads(value),
                Some(None) => {
                    if value.is_null() {
                        Some(true)
                    } else {
                        None
                    }
                }
            }
        }
        (Tag::Internal(tag), Value::Object(map)) => {
            let Some(name) = map.get(tag).and_then(Value::as_str) else { return Some(false) };
            match named(name).map(|variant| &variant.content) {
                None => Some(false),
                Some(None) => Some(true),
                Some(Some(content)) => {
                    let mut rest = map.clone();
                    rest.remove(tag);
                    content.reads(&rest.into())
                }
            }
        }
        (Tag::Adjacent { tag, content }, Value::Object(map)) => {
            let Some(name) = map.get(tag).and_then(Value::as_str) else { return Some(false) };
            match named(name).map(|variant| &variant.content) {
                None => Some(false),
                Some(None) => Some(true),
                Some(Some(reads)) => match map.get(content) {
                    Some(value) => reads.reads(value),
                    None => reads.reads_missing(),
                },
            }
        }
        // A list of tag and content is accepted, but nobody writes one.
        (Tag::Internal(_) | Tag::Adjacent { .. }, Value::Array(_)) => None,
        _ => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn u8() -> Reads {
        Reads::Integer(Integer { name: "u8".into(), min: 0, max: 255, zero: true })
    }

    fn field(name: &str, required: bool, reads: Reads) -> Part {
        let aliases = vec![format!("{name}Alias")];
        Part::Field(Field { name: name.into(), aliases, span: None, required, by_function: false, reads })
    }

    fn variant(name: &str, content: Option<Reads>) -> Variant {
        Variant { names: vec![name.into()], other: false, untagged: false, content }
    }

    #[test]
    fn reads_numbers_within_the_bounds_of_their_type() {
        let answers = [json!(0), json!(255), json!(256), json!(-1), json!(1.0), json!("1"), json!(null)];
        let read = answers.map(|value| u8().reads(&value).unwrap());
        assert_eq!(read, [true, true, false, false, false, false, false]);
        let nonzero = Integer { name: "NonZeroU64".into(), min: 0, max: u64::MAX.into(), zero: false };
        assert_eq!(Reads::Integer(nonzero.clone()).reads(&json!(0)), Some(false));
        assert_eq!(Reads::Integer(nonzero).reads(&json!(u64::MAX)), Some(true));
    }

    #[test]
    fn reads_structs_by_names_and_aliases() {
        let flattened = Part::Flattened(Reads::Struct(vec![field("c", true, u8())]));
        let reads = Reads::Struct(vec![field("a", true, u8()), field("b", false, u8()), flattened]);
        for (value, expected) in [
            (json!({"a": 1, "c": 1}), Some(true)),
            (json!({"aAlias": 1, "c": 1, "unknown": 2}), Some(true)),
            (json!({"c": 1}), Some(false)),
            (json!({"a": 1}), Some(false)),
            (json!({"a": 1, "b": 256, "c": 1}), Some(false)),
            (json!({"a": 1, "aAlias": 1, "c": 1}), Some(false)),
            (json!([1, 2, 3]), None),
            (json!(1), Some(false)),
        ] {
            assert_eq!(reads.reads(&value), expected, "{value}");
        }
    }

    #[test]
    fn reads_enums_by_their_tags() {
        let content = || Reads::Struct(vec![field("n", true, u8())]);
        let of = |tag| Reads::Enum { tag, variants: vec![variant("A", None), variant("B", Some(content()))] };
        let adjacent = Tag::Adjacent { tag: "t".into(), content: "c".into() };
        for (tag, value, expected) in [
            (Tag::External, json!("A"), true),
            (Tag::External, json!("B"), false),
            (Tag::External, json!("C"), false),
            (Tag::External, json!({"B": {"n": 1}}), true),
            (Tag::External, json!({"B": {"n": 256}}), false),
            (Tag::External, json!({"A": null, "B": {"n": 1}}), false),
            (Tag::Internal("t".into()), json!({"t": "A", "n": 256}), true),
            (Tag::Internal("t".into()), json!({"t": "B", "n": 256}), false),
            (Tag::Internal("t".into()), json!({"n": 1}), false),
            (adjacent.clone(), json!({"t": "B", "c": {"n": 1}}), true),
            (adjacent, json!({"t": "B"}), false),
            (Tag::Untagged, json!({"n": 256}), false),
            (Tag::Untagged, json!({"n": 1}), true),
            (Tag::Untagged, json!(null), true),
        ] {
            assert_eq!(of(tag.clone()).reads(&value), Some(expected), "{tag:?} {value}");
        }
        let float = Reads::Struct(vec![field("n", true, Reads::Float)]);
        let either = Reads::Enum {
            tag: Tag::Untagged,
            variants: vec![variant("A", Some(content())), variant("B", Some(float))],
        };
        assert_eq!(either.reads(&json!({"n": 256})), Some(true));
    }

    #[test]
    fn reads_keys_as_serde_json_parses_them() {
        let of = |keys| Reads::Map { keys: Box::new(keys), values: Box::new(Reads::Anything) };
        let unit = Reads::Enum { tag: Tag::External, variants: vec![variant("A", None)] };
        for (keys, read, refused) in
            [(u8(), "7", "256"), (Reads::Bool, "true", "yes"), (Reads::Char, "é", "ab"), (unit, "A", "a")]
        {
            let map = of(keys);
            assert_eq!(map.reads(&json!({read: 1})), Some(true), "{read}");
            assert_eq!(map.reads(&json!({refused: 1})), Some(false), "{refused}");
        }
        assert_eq!(Reads::FromText(Box::new(u8())).reads(&json!(7)), Some(false));
    }

    #[test]
    fn refuses_the_fields_that_no_part_takes() {
        let inner = Part::Flattened(Reads::Struct(vec![field("b", false, u8())]));
        let reads = Reads::Struct(vec![field("a", false, u8()), inner, Part::NoOthers]);
        let read = [json!({"a": 1, "b": 1}), json!({"a": 1, "c": 1})].map(|value| reads.reads(&value));
        assert_eq!(read, [Some(true), Some(false)]);
    }

    #[test]
    fn does_not_guess_what_only_a_run_tells() {
        assert_eq!(Reads::Unknown.reads(&json!(1)), None);
        let code = |knowledge| {
            let refused = vec![json!(3)];
            Reads::Code(Box::new(Code { name: "even".into(), span: None, from: u8(), refused, knowledge }))
        };
        for (knowledge, otherwise) in [(Knowledge::None, None), (Knowledge::Tried, None), (Knowledge::All, Some(true))]
        {
            let read = [json!(1), json!(3), json!(256)].map(|value| code(knowledge).reads(&value));
            assert_eq!(read, [otherwise, Some(false), Some(false)]);
        }
        let option = Reads::Struct(vec![Part::Flattened(Reads::Optional(Box::new(Reads::Struct(vec![field(
            "a",
            true,
            u8(),
        )]))))]);
        assert_eq!(option.reads(&json!({"a": 256})), Some(true));
    }
}
