//! Tables of the attribute names of serde, schemars and the crates whose attributes schemars also reads, by the place
//! where they are valid. `tests/compiler/attributes.rs` compares the tables with the attributes that the derives
//! accept.

use opctl_model::names::nearest;

/// The part of a type that an attribute is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Container,
    Variant,
    Field,
}

impl Level {
    const ALL: [Self; 3] = [Self::Container, Self::Variant, Self::Field];

    fn plural(self) -> &'static str {
        match self {
            Self::Container => "types",
            Self::Variant => "variants",
            Self::Field => "fields",
        }
    }
}

/// The attributes that serde's derives read.
pub fn serde(level: Level) -> &'static [&'static str] {
    match level {
        Level::Container => &[
            "bound",
            "content",
            "crate",
            "default",
            "deny_unknown_fields",
            "expecting",
            "field_identifier",
            "from",
            "into",
            "remote",
            "rename",
            "rename_all",
            "rename_all_fields",
            "tag",
            "transparent",
            "try_from",
            "untagged",
            "variant_identifier",
        ],
        Level::Variant => &[
            "alias",
            "borrow",
            "bound",
            "deserialize_with",
            "other",
            "rename",
            "rename_all",
            "serialize_with",
            "skip",
            "skip_deserializing",
            "skip_serializing",
            "untagged",
            "with",
        ],
        Level::Field => &[
            "alias",
            "borrow",
            "bound",
            "default",
            "deserialize_with",
            "flatten",
            "getter",
            "rename",
            "serialize_with",
            "skip",
            "skip_deserializing",
            "skip_serializing",
            "skip_serializing_if",
            "with",
        ],
    }
}

/// The attributes that schemars' derive reads itself, without the ones that it passes on to serde.
pub fn schemars(level: Level) -> &'static [&'static str] {
    match level {
        Level::Container => &[
            "crate",
            "description",
            "example",
            "extend",
            "inline",
            "rename",
            "schema_with",
            "title",
            "transform",
            "with",
        ],
        Level::Variant => &["description", "example", "extend", "schema_with", "title", "transform", "with"],
        Level::Field => &[
            "contains",
            "description",
            "email",
            "example",
            "extend",
            "inner",
            "ip",
            "ipv4",
            "ipv6",
            "length",
            "pattern",
            "range",
            "regex",
            "required",
            "schema_with",
            "title",
            "transform",
            "url",
            "with",
        ],
    }
}

/// The validations that may be in `inner(…)`.
pub const INNER: &[&str] =
    &["contains", "email", "inner", "ip", "ipv4", "ipv6", "length", "pattern", "range", "regex", "required", "url"];

/// Attributes that schemars leaves to serde's parser, in `#[serde]` and in `#[schemars]`.
pub const PARSED_BY_SERDE: &[&str] = &[
    "rename",
    "rename_all",
    "rename_all_fields",
    "deny_unknown_fields",
    "tag",
    "content",
    "untagged",
    "default",
    "skip",
    "skip_serializing",
    "skip_serializing_if",
    "skip_deserializing",
    "flatten",
    "remote",
    "transparent",
    "into",
    "from",
    "try_from",
    "bound",
];

/// Field rules of the crates validator and garde that schemars does not read.
pub fn unread_rules(kind: &str) -> &'static [&'static str] {
    match kind {
        "validate" => &[
            "credit_card",
            "custom",
            "does_not_contain",
            "must_match",
            "nested",
            "non_control_character",
            "required_nested",
            "schema",
            "skip",
        ],
        _ => &[
            "adapt",
            "alphanumeric",
            "ascii",
            "code",
            "credit_card",
            "custom",
            "dive",
            "matches",
            "message",
            "phone_number",
            "prefix",
            "rename",
            "skip",
            "suffix",
        ],
    }
}

/// The next step for a name that no derive has at this place; `kind` is `serde` or `schemars`.
pub fn help(kind: &str, name: &str, level: Level) -> Option<String> {
    let valid = |kind: &str, level: Level| -> Vec<&'static str> {
        let passed_on = PARSED_BY_SERDE.iter().filter(|name| serde(level).contains(name)).copied();
        if kind == "serde" { serde(level).to_vec() } else { schemars(level).iter().copied().chain(passed_on).collect() }
    };
    let other = if kind == "serde" { "schemars" } else { "serde" };
    let places: Vec<&str> =
        Level::ALL.into_iter().filter(|level| valid(kind, *level).contains(&name)).map(Level::plural).collect();
    if valid(other, level).contains(&name) {
        Some(format!("`{name}` is an attribute of {other}: write `#[{other}({name} …)]`"))
    } else if !places.is_empty() {
        Some(format!("`{name}` is for {}", places.join(" and ")))
    } else if let Some(nearest) = nearest(name, valid(kind, level)) {
        Some(format!("did you mean `{nearest}`?"))
    } else if name == "deprecated" {
        Some("write Rust's own attribute: `#[deprecated]`".into())
    } else if kind == "schemars" {
        Some(format!("write any other keyword of a schema as `extend(\"{name}\" = …)`"))
    } else {
        None
    }
}
