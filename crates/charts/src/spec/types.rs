//! Prints a schema as Rust types, for the spec of a kind.

use std::collections::BTreeSet;
use std::fmt::Write;

use heck::{ToSnakeCase, ToUpperCamelCase};
use serde_json::{Map, Value};

use super::{Kind, Object, Range, Schema, Words};
use opctl_model::names::{self, is_rust_keyword};

/// The parts of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Types {
    /// The attributes of the spec, each in a line.
    pub attributes: String,
    /// The fields of the spec.
    pub fields: String,
    /// All other types.
    pub others: String,
    /// The types use `BTreeMap`.
    pub has_map: bool,
    /// The types use `Value`.
    pub has_value: bool,
}

/// Names that the file imports or declares otherwise.
const TAKEN: [&str; 10] = [
    "AnyValue",
    "BTreeMap",
    "CustomResource",
    "Deserialize",
    "IntOrString",
    "JsonSchema",
    "KubeSchema",
    "Option",
    "Serialize",
    "Value",
];

/// Prints the types of the spec of a kind, and a type of its status if `status` has fields.
pub fn types(kind: &str, spec: &Object, status: &Object, words: Words) -> Types {
    let taken = TAKEN.iter().map(|name| (*name).to_owned()).chain([
        words.status.to_owned(),
        kind.to_owned(),
        format!("{kind}Fields"),
        format!("{kind}Spec"),
        format!("{kind}Status"),
    ]);
    // The type of the kind may have another name.
    let taken = taken.chain(names::Kind::parse(kind).ok().map(|kind| kind.type_name()));
    let mut printer = Printer {
        kind,
        words,
        names: taken.collect(),
        types: Types::default(),
        has_any: false,
        has_int_or_string: false,
    };
    printer.types.attributes = renaming(spec) + &extension(&keywords(spec));
    printer.types.fields = printer.fields(spec, &[]);
    if !status.fields.is_empty() {
        printer.status(status);
    }
    if printer.has_int_or_string {
        printer.types.has_value = true;
        printer.types.others.push_str(&INT_OR_STRING.replace("[source]", words.source));
    }
    if printer.has_any {
        printer.types.has_value = true;
        printer.types.others.push_str(&ANY.replace("[source]", words.source));
    }
    printer.types
}

/// Accepts any value, including null: in Helm, null removes a default, and without `nullable` the API server would drop
/// it.
const ANY: &str = "
// Any value: the [source] does not specify its type.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend(\"nullable\" = true, \"x-kubernetes-preserve-unknown-fields\" = true))]
pub struct AnyValue(pub Value);
";

/// A [`Value`] in Rust, since the `IntOrString` of Kubernetes is limited to 32 bits and rejects null.
const INT_OR_STRING: &str = "
// An integer or a string: the [source] accepts both.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend(\"nullable\" = true, \"x-kubernetes-int-or-string\" = true))]
pub struct IntOrString(pub Value);
";

struct Printer<'a> {
    kind: &'a str,
    words: Words,
    /// The names of all types.
    names: BTreeSet<String>,
    types: Types,
    has_any: bool,
    has_int_or_string: bool,
}

impl Printer<'_> {
    fn fields(&mut self, object: &Object, path: &[&str]) -> String {
        let mut taken = BTreeSet::new();
        let mut text = String::new();
        let is_snake = has_snake_case(object);
        for field in &object.fields {
            let path = [path, &[field.name.as_str()]].concat();
            let ident = unique(&mut taken, identifier(&field.name), "_");
            let kind = self.kind(&field.schema, &path);
            text += &documentation(&field.schema, self.words);
            let mut serde = Vec::new();
            let name = if is_snake { ident.trim_start_matches("r#").to_owned() } else { camel_case(&ident) };
            if name != field.name {
                serde.push(format!("rename = {:?}", field.name));
            }
            let mut schemars = validation(&field.schema);
            let kind = match field.is_required {
                true => {
                    let is_nullable = field.schema.keywords.is_some() && !takes_no_null(&field.schema);
                    schemars.extend(is_nullable.then(|| extended("nullable", &true.into())));
                    kind
                }
                false => {
                    if takes_no_null(&field.schema) {
                        serde.push("default".into());
                        schemars.insert(0, format!("with = {kind:?}"));
                    }
                    serde.push("skip_serializing_if = \"Option::is_none\"".into());
                    format!("Option<{kind}>")
                }
            };
            text += &attribute("serde", &serde);
            text += &attribute("schemars", &schemars);
            writeln!(text, "    pub {ident}: {kind},").expect("a String takes everything");
        }
        if object.is_open {
            (self.types.has_map, self.types.has_value) = (true, true);
            let ident = unique(&mut taken, "other".into(), "_");
            let skipped = if has_only_others(object) { "    #[schemars(skip)]\n" } else { "" };
            text += &format!(
                "    /// All other values.\n    #[serde(flatten)]\n{skipped}    pub {ident}: BTreeMap<String, Value>,\n"
            );
        }
        text
    }

    /// The type of the status: the fields of `words.status`, and those of the CRD.
    fn status(&mut self, status: &Object) {
        let Words { status: of_runtime, .. } = self.words;
        self.words.values = "object";
        // The type precedes those of its fields.
        let place = self.types.others.len();
        let fields = self.fields(status, &["status"]);
        let mut taken = status.fields.iter().map(|field| identifier(&field.name)).collect();
        let ident = unique(&mut taken, "runs".into(), "_");
        let text = format!(
            "\n/// The fields of [`{of_runtime}`], and those that the {} sets.\n\
             #[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]\n\
             {}#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]\npub struct {}Status {{\n{fields}\
             \x20   #[serde(flatten)]\n    pub {ident}: {of_runtime},\n}}\n",
            self.words.source,
            renaming(status),
            self.kind,
        );
        self.types.others.insert_str(place, &text);
    }

    /// The Rust type of a value.
    fn kind(&mut self, schema: &Schema, path: &[&str]) -> String {
        let format = schema.keywords.as_ref().and_then(|keywords| keywords.get("format")?.as_str());
        match &schema.kind {
            Kind::Any if schema.keywords.is_some() => {
                self.types.has_value = true;
                "Value".into()
            }
            Kind::Any => {
                self.has_any = true;
                "AnyValue".into()
            }
            Kind::Boolean => "bool".into(),
            Kind::Integer(_) if format == Some("int32") => "i32".into(),
            Kind::Integer(_) => "i64".into(),
            Kind::Number(_) => "f64".into(),
            Kind::Text { .. } => "String".into(),
            Kind::IntegerOrText => {
                self.has_int_or_string = true;
                "IntOrString".into()
            }
            Kind::Choice(choices) => self.choice(choices, path),
            Kind::List(item, _) => format!("Vec<{}>", self.kind(item, path)),
            Kind::Map(value) => {
                self.types.has_map = true;
                format!("BTreeMap<String, {}>", self.kind(value, path))
            }
            Kind::Object(object) => self.structure(object, path),
        }
    }

    fn structure(&mut self, object: &Object, path: &[&str]) -> String {
        let name = self.name(path);
        // Types are printed in the order of the fields that have them.
        let place = self.types.others.len();
        let fields = self.fields(object, path);
        let text = format!(
            "\n/// `{}` of the {}.\n#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]\n\
             {}{}pub struct {name} {{\n{fields}}}\n",
            path.join("."),
            self.words.values,
            renaming(object),
            extension(&keywords(object)),
        );
        self.types.others.insert_str(place, &text);
        name
    }

    fn choice(&mut self, choices: &[String], path: &[&str]) -> String {
        let name = self.name(path);
        let mut taken = BTreeSet::new();
        let mut variants = String::new();
        for (number, choice) in choices.iter().enumerate() {
            let variant = choice.to_upper_camel_case();
            let legal = match variant.chars().next() {
                None if choice.is_empty() => "Empty".into(),
                None => "Other".into(),
                Some(first) if first.is_numeric() => format!("V{variant}"),
                Some(_) if is_rust_keyword(&variant) => format!("{variant}_"),
                Some(_) => variant,
            };
            let variant = unique(&mut taken, legal, "");
            if number == 0 {
                variants += "    #[default]\n";
            }
            if variant != *choice {
                writeln!(variants, "    #[serde(rename = {choice:?})]").expect("a String takes everything");
            }
            writeln!(variants, "    {variant},").expect("a String takes everything");
        }
        let text = format!(
            "\n/// `{}` of the {}.\n#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]\n\
             pub enum {name} {{\n{variants}}}\n",
            path.join("."),
            self.words.values
        );
        self.types.others += &text;
        name
    }

    /// A unique type name from the kind and the path.
    fn name(&mut self, path: &[&str]) -> String {
        let name = path.iter().map(|key| key.to_upper_camel_case());
        unique(&mut self.names, format!("{}{}", self.kind, name.collect::<String>()), "")
    }
}

/// `true` if snake case is more frequent than camel case. Matching the majority leaves fewer fields to rename.
fn has_snake_case(object: &Object) -> bool {
    let count = |is_it: fn(&str) -> bool| object.fields.iter().filter(|field| is_it(&field.name)).count();
    count(|name| name.contains('_')) > count(|name| name.contains(|letter: char| letter.is_ascii_uppercase()))
}

fn renaming(object: &Object) -> String {
    if has_snake_case(object) { String::new() } else { "#[serde(rename_all = \"camelCase\")]\n".into() }
}

/// `true` if the API server rejects null for this field, although it is optional.
fn takes_no_null(schema: &Schema) -> bool {
    schema.keywords.as_ref().is_some_and(|keywords| keywords.get("nullable") != Some(&Value::Bool(true)))
}

/// `true` if the map for other values is the only field. With `additionalProperties`, which schemars would derive, the API
/// server drops the fields of these values; kube replaces it only beside other fields.
fn has_only_others(object: &Object) -> bool {
    object.is_open && object.fields.is_empty()
}

/// The keywords of a type.
fn keywords(object: &Object) -> Map<String, Value> {
    let mut keywords = object.keywords.clone();
    if has_only_others(object) {
        keywords.insert("x-kubernetes-preserve-unknown-fields".into(), true.into());
    }
    keywords
}

/// The keywords of a schema as a `schemars` attribute of a type.
fn extension(keywords: &Map<String, Value>) -> String {
    let keywords: Vec<String> = keywords.iter().map(|(key, value)| extended(key, value)).collect();
    match keywords.is_empty() {
        true => String::new(),
        // Attributes of fields are indented.
        false => attribute("schemars", &keywords).lines().map(|line| format!("{}\n", &line[4..])).collect(),
    }
}

/// A keyword that replaces what schemars derives.
fn extended(key: &str, value: &Value) -> String {
    format!("extend({key:?} = {})", tokens(value))
}

/// JSON as the tokens of `json!`.
fn tokens(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Array(items) => format!("[{}]", items.iter().map(tokens).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(key, value)| format!("{key:?}: {}", tokens(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

/// The name, or the name with the first free number appended.
fn unique(taken: &mut BTreeSet<String>, name: String, separator: &str) -> String {
    let numbered = (2..).map(|number| format!("{}{separator}{number}", name.trim_start_matches("r#")));
    let free =
        std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name)).expect("numbers do not end");
    taken.insert(free.clone());
    free
}

/// The identifier of a field for this key.
fn identifier(key: &str) -> String {
    let ascii: String = key.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    let snake = ascii.to_snake_case();
    match snake.as_str() {
        "" => "value".into(),
        // These cannot be raw identifiers.
        "self" | "super" | "crate" => format!("{snake}_"),
        _ if snake.starts_with(|letter: char| letter.is_ascii_digit()) => format!("value_{snake}"),
        _ if is_rust_keyword(&snake) => format!("r#{snake}"),
        _ => snake,
    }
}

/// The camel case of serde's `rename_all`.
fn camel_case(ident: &str) -> String {
    let mut camel = String::new();
    let mut is_upper = false;
    for letter in ident.trim_start_matches("r#").chars() {
        match letter {
            '_' => is_upper = true,
            letter if is_upper => {
                camel.push(letter.to_ascii_uppercase());
                is_upper = false;
            }
            letter => camel.push(letter),
        }
    }
    camel
}

/// Doc comment of a field: its description, and its default if it is short.
fn documentation(schema: &Schema, words: Words) -> String {
    /// Longer defaults are easier to read in values.yaml.
    const MOST: usize = 80;
    // The default of an existing CRD is in its attribute.
    let default = schema.default.as_ref().filter(|_| schema.keywords.is_none()).filter(|default| match default {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(_) => {
            !matches!(schema.kind, Kind::Object(_)) && default.as_object().is_some_and(|fields| !fields.is_empty())
        }
        _ => true,
    });
    let default = default.map(ToString::to_string).filter(|text| text.len() <= MOST && !text.contains(['`', '\\']));
    let mut text: Vec<String> = schema.comment.replace("```", "`").split_whitespace().map(str::to_owned).collect();
    if let Some(default) = default {
        if let Some(last) =
            text.last_mut().filter(|last| !last.ends_with(['.', '!', '?', ':', ')']) && !last.contains("://"))
        {
            last.push('.');
        }
        let source = format!("{}{}", words.source[..1].to_uppercase(), &words.source[1..]);
        text.extend([source, "default:".into(), format!("`{default}`.")]);
    }
    wrapped(&text)
}

/// Doc comment lines of these words. No line begins with a character that Markdown parses as a list or heading.
fn wrapped(words: &[String]) -> String {
    const WIDTH: usize = 90;
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        let is_mark = !word.starts_with(|letter: char| {
            letter.is_alphanumeric() || matches!(letter, '`' | '"' | '(' | '/' | '.' | '$')
        }) || word.ends_with(['.', ')']) && word.trim_end_matches(['.', ')']).parse::<u32>().is_ok();
        match lines.last_mut() {
            Some(line) if is_mark || line.len() + word.len() < WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            None if is_mark => lines.push(format!("\\{word}")),
            _ => lines.push(word.clone()),
        }
    }
    lines.iter().map(|line| format!("    /// {line}\n")).collect()
}

/// The `schemars` arguments that validate a field.
fn validation(schema: &Schema) -> Vec<String> {
    let bounds = |name: &str, min: Option<String>, max: Option<String>| {
        let bounds = [min.map(|min| format!("min = {min}")), max.map(|max| format!("max = {max}"))];
        let bounds: Vec<String> = bounds.into_iter().flatten().collect();
        (!bounds.is_empty()).then(|| format!("{name}({})", bounds.join(", ")))
    };
    let text = |number: Option<u64>| number.map(|number| number.to_string());
    let rules = match &schema.kind {
        Kind::Integer(Range { min, max }) => {
            vec![bounds("range", min.map(|it| it.to_string()), max.map(|it| it.to_string()))]
        }
        Kind::Number(Range { min, max }) => {
            vec![bounds("range", min.map(|it| format!("{it:?}")), max.map(|it| format!("{it:?}")))]
        }
        Kind::Text { length, pattern } => {
            let pattern = pattern.as_ref().map(|pattern| format!("regex(pattern = {pattern:?})"));
            vec![bounds("length", text(length.min), text(length.max)), pattern]
        }
        Kind::List(_, length) => vec![bounds("length", text(length.min), text(length.max))],
        _ => Vec::new(),
    };
    let mut rules: Vec<String> = rules.into_iter().flatten().collect();
    if let Some(keywords) = &schema.keywords {
        let is_in_type = |key: &str, value: &Value| {
            key == "format" && value == "int32" && matches!(schema.kind, Kind::Integer(_))
                || key == "nullable" && value == true
        };
        rules.extend(schema.default.iter().map(|default| extended("default", default)));
        let keywords = keywords.iter().filter(|(key, value)| !is_in_type(key, value));
        rules.extend(keywords.map(|(key, value)| extended(key, value)));
    }
    rules
}

/// The attribute of a field; empty without arguments.
fn attribute(name: &str, arguments: &[String]) -> String {
    if arguments.is_empty() { String::new() } else { format!("    #[{}]\n", meta_list(name, arguments)) }
}

/// An attribute with its arguments, such as `kube(group = "example.com")`, in the format of rustfmt at an indentation of
/// four columns.
pub fn meta_list(name: &str, arguments: &[String]) -> String {
    /// rustfmt's `attr_fn_like_width`.
    const WIDTH: usize = 70;
    let line = arguments.join(", ");
    match line.chars().count() {
        ..=WIDTH => format!("{name}({line})"),
        _ => format!("{name}(\n        {}\n    )", arguments.join(",\n        ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_names_that_rust_allows() {
        for (key, field, is_renamed) in [
            ("replicaCount", "replica_count", false),
            ("type", "r#type", false),
            ("self", "self_", false),
            ("targetCPUUtilization", "target_cpu_utilization", true),
            ("kube-state-metrics", "kube_state_metrics", true),
            ("1st", "value_1st", true),
            ("snake_case", "snake_case", true),
            ("-", "value", true),
            ("HTTP", "http", true),
        ] {
            let ident = identifier(key);
            assert_eq!((ident.as_str(), camel_case(&ident) != key), (field, is_renamed), "{key}");
        }
        let mut taken = BTreeSet::new();
        let names = ["a-b", "a_b", "type", "Type"].map(|key| unique(&mut taken, identifier(key), "_"));
        assert_eq!(names, ["a_b", "a_b_2", "r#type", "type_2"]);
    }

    #[test]
    fn a_type_without_fields_keeps_nested_values() {
        let words = Words { source: "role", values: "parameters", status: "AnsibleStatus" };
        let open = Object { is_open: true, ..Object::default() };
        let types = types("Site", &open, &Object::default(), words);
        let keeps = "#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]\n";
        assert!(types.attributes.ends_with(keeps), "{}", types.attributes);
        assert!(types.fields.contains("#[schemars(skip)]"), "{}", types.fields);
        let field = super::super::Field { name: "size".into(), schema: Schema::default(), is_required: false };
        let types = super::types("Site", &Object { fields: vec![field], ..open }, &Object::default(), words);
        assert!(!types.attributes.contains(keeps) && !types.fields.contains("skip)"), "{}", types.fields);
    }

    #[test]
    fn comments_are_no_markdown() {
        let words: Vec<String> = "- first 1. second".split(' ').map(str::to_owned).collect();
        assert_eq!(wrapped(&words), "    /// \\- first 1. second\n");
        let long = ["word"; 20].join(" ") + " - item";
        let words: Vec<String> = long.split(' ').map(str::to_owned).collect();
        assert!(wrapped(&words).lines().all(|line| !line.starts_with("    /// -")));
    }
}
