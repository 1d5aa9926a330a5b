//! Converts the parameters of a role or playbook to the fields of a spec.
//!
//! Parameters are the options in `meta/argument_specs.yml`, which Ansible validates, or else the variables in
//! `defaults`, and the `vars` of plays. Ansible receives the keys of a spec in snake case, so a field is the camel case
//! of its variable if the conversion is reversible.

use std::collections::BTreeMap;

use heck::ToSnakeCase;
use serde_json::Value as Json;

use super::tasks::roles_of_playbook;
use super::{Content, Source};
use crate::ansible::diagnostics::{OP486, OP487};
use crate::spec::{Field, Kind, MOST_FIELDS, Object, Range, Schema, keys};
use opctl_kustomize::yaml::{Entry, Node, Shared, Value};
use opctl_model::diagnostic::{Diagnostic, SourceFile};

/// The fields of the spec. Problems are added to `found`, including variables without a field.
pub fn spec(content: &Content, found: &mut Vec<Diagnostic>) -> Object {
    let mut object = Object::default();
    // An included role gets its parameters from the including one.
    let roles = match &content.sources[0] {
        Source::Role(name) => vec![name.clone()],
        Source::Playbook(path) => {
            add(&mut object, variables_of_plays(content, path, found));
            roles_of_playbook(content, path, &mut Vec::new())
        }
    };
    // Tasks may use any variable unless `argument_specs` declare them.
    object.is_open = roles.is_empty();
    for role in &roles {
        let documents = documents_of_role(content, role, found);
        let options = documents.iter().find_map(|document| document.at(&["argument_specs", "main", "options"]));
        object.is_open |= options.is_none();
        add(&mut object, parameters_of_role(content, role, options, found));
    }
    object.is_open |= object.fields.is_empty();
    object
}

/// The same fields for a spec whose keys are not converted: each has the name of its variable.
pub fn as_variables(object: Object) -> Object {
    let fields = object.fields.into_iter().map(|field| match field.name.contains('_') {
        true => field,
        false => Field { name: field.name.to_snake_case(), ..field },
    });
    Object { fields: fields.collect(), ..object }
}

fn add(object: &mut Object, fields: Vec<Field>) {
    for field in fields {
        if object.fields.iter().all(|known| known.name != field.name) {
            object.fields.push(field);
        }
    }
}

/// An option or a variable.
struct Parameter<'a> {
    key: &'a Entry,
    schema: Schema,
    is_required: bool,
}

/// The files that may contain `argument_specs`.
fn documents_of_role(content: &Content, role: &str, found: &mut Vec<Diagnostic>) -> Vec<Node> {
    let folder = format!("{}/meta/", super::role_path(role));
    let specs = ["argument_specs.yml", "argument_specs.yaml", "main.yml", "main.yaml"];
    let specs = specs.iter().filter_map(|name| content.file(&format!("{folder}{name}")));
    specs.flat_map(|file| content.read(file, found)).collect()
}

/// The `options` of a role in its `argument_specs`, or else its defaults.
fn parameters_of_role(
    content: &Content,
    role: &str,
    options: Option<&Node>,
    found: &mut Vec<Diagnostic>,
) -> Vec<Field> {
    let mut defaults = Vec::new();
    for file in content.main_files(role, "defaults") {
        for document in content.read(file, found) {
            defaults.push((file.clone(), document));
        }
    }
    if let Some(options) = options {
        let parameters = options_of(options, found);
        let with_default = parameters.into_iter().map(|mut parameter| {
            if parameter.schema.default.is_none() {
                let default = defaults.iter().find_map(|(_, variables)| variables.get(&parameter.key.key));
                parameter.schema.default = default.filter(|default| !is_computed(default)).map(Node::json);
            }
            parameter.is_required &= parameter.schema.default.is_none();
            parameter
        });
        let with_default: Vec<_> = with_default.collect();
        return fields(with_default, found);
    }
    defaults.iter().flat_map(|(file, variables)| variables_of(file, variables, &[], found)).collect()
}

/// The `vars` of all plays.
fn variables_of_plays(content: &Content, path: &str, found: &mut Vec<Diagnostic>) -> Vec<Field> {
    let Some(file) = content.file(path) else { return Vec::new() };
    let documents = content.read(file, found);
    let plays = documents.iter().flat_map(Node::items);
    plays.filter_map(|play| play.get("vars")).flat_map(|vars| variables_of(file, vars, &["vars"], found)).collect()
}

/// Variables with their defaults. A leading `_` marks a private variable, which is skipped.
fn variables_of(file: &SourceFile, variables: &Node, above: &[&str], found: &mut Vec<Diagnostic>) -> Vec<Field> {
    let comments = keys(&file.text).into_iter().filter(|comment| comment.path.len() == above.len() + 1).rev();
    let mut comments: BTreeMap<String, String> =
        comments.filter_map(|mut comment| Some((comment.path.pop()?, comment.comment))).collect();
    let parameters = variables.entries().iter().map(|key| {
        let comment = comments.remove(&key.key).unwrap_or_default();
        let schema = Schema { comment, ..of_default(&key.value) };
        Parameter { key, schema, is_required: false }
    });
    let parameters: Vec<_> = parameters.collect();
    fields(parameters, found)
}

/// `true` if a template computes the value.
fn is_computed(node: &Node) -> bool {
    node.as_text().is_some_and(|text| text.contains("{{") || text.contains("{%"))
}

/// The schema of a variable, from its default. Ansible replaces a mapping as a whole, so unknown keys are valid.
fn of_default(node: &Node) -> Schema {
    if is_computed(node) {
        return Schema::default();
    }
    let kind = match &node.value {
        Value::Null => Kind::Any,
        Value::Bool(_) => Kind::Boolean,
        Value::Number(number) if number.is_f64() => Kind::Number(Range::default()),
        Value::Number(_) => Kind::Integer(Range::default()),
        Value::Text(_) => Kind::Text { length: Range::default(), pattern: None },
        Value::List(items) => Kind::List(Box::new(item(items)), Range::default()),
        Value::Map(_) => Kind::Map(Box::default()),
    };
    Schema { default: Some(node.json()), kind, ..Schema::default() }
}

/// The type of items, if all are scalars of the same type.
fn item(items: &[Node]) -> Schema {
    let mut kinds = items.iter().map(|item| of_default(item).kind);
    let first = kinds.next().filter(|kind| matches!(kind, Kind::Integer(_) | Kind::Text { .. }));
    let kind = first.filter(|first| kinds.all(|kind| kind == *first)).unwrap_or_default();
    Schema { kind, ..Schema::default() }
}

/// The options in `options`.
fn options_of<'a>(options: &'a Node, found: &mut Vec<Diagnostic>) -> Vec<Parameter<'a>> {
    let mut parameters = Vec::new();
    for key in options.entries() {
        let option = &key.value;
        let description = option.get("description");
        let comment = match description.map(|node| &node.value) {
            Some(Value::Text(text)) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Some(Value::List(lines)) => lines.iter().filter_map(Node::as_text).collect::<Vec<_>>().join(" "),
            _ => String::new(),
        };
        let default = option.get("default").filter(|default| !is_computed(default)).map(Node::json);
        let schema = Schema { comment, default, kind: kind_of(option, found), ..Schema::default() };
        let is_required = option.get("required").is_some_and(Node::is_true);
        parameters.push(Parameter { key, schema, is_required });
    }
    parameters
}

/// The type of an option or of its elements.
fn kind_of(option: &Node, found: &mut Vec<Diagnostic>) -> Kind {
    let node = option.get("type");
    match node.map_or(Some("str"), Node::as_text) {
        Some("list") => {
            let element = Node { value: Value::Map(element(option)), span: option.span.clone() };
            let kind = match option.get("elements") {
                Some(_) => kind_of(&element, found),
                None => Kind::Any,
            };
            Kind::List(Box::new(Schema { kind, ..Schema::default() }), Range::default())
        }
        Some("str" | "path") => match option.get("choices") {
            Some(choices) => choice(choices, found),
            None => Kind::Text { length: Range::default(), pattern: None },
        },
        Some("int") => Kind::Integer(bounds(option)),
        Some("float") => Kind::Number(Range::default()),
        Some("bool") => Kind::Boolean,
        Some("dict") => match option.get("options") {
            Some(options) => {
                let parameters = options_of(options, found);
                Kind::Object(Object { fields: fields(parameters, found), ..Object::default() })
            }
            None => Kind::Map(Box::default()),
        },
        // A number of bytes or bits, optionally with a unit.
        Some("bytes" | "bits") => Kind::IntegerOrText,
        Some("raw" | "json" | "jsonarg") => Kind::Any,
        other => {
            let at = node.unwrap_or(option).span.clone();
            let message = format!("an option has no type `{}`", other.unwrap_or_default());
            let help = "the types are str, int, float, bool, list, dict, path, raw, json, bytes and bits";
            found.push(OP486.error(message).at(at, "").help(help));
            Kind::Any
        }
    }
}

/// An option with the type in `elements`.
fn element(option: &Node) -> Shared<Entry> {
    let entries =
        option.entries().iter().filter(|entry| ["elements", "options", "choices"].contains(&entry.key.as_str()));
    let renamed = entries.map(|entry| match entry.key.as_str() {
        "elements" => Entry { key: "type".into(), ..entry.clone() },
        _ => entry.clone(),
    });
    renamed.collect()
}

fn choice(choices: &Node, found: &mut Vec<Diagnostic>) -> Kind {
    let mut texts = Vec::new();
    for choice in choices.items() {
        match choice.as_text() {
            Some(text) => texts.push(text.to_owned()),
            None => {
                let message = "this choice is not a string, but its option is";
                let help = "put it in quotes: YAML reads `yes`, `no`, `on` and `off` as booleans";
                found.push(OP486.error(message).at(choice.span.clone(), "").help(help));
            }
        }
    }
    Kind::Choice(texts)
}

/// The minimum and maximum of the choices.
fn bounds(option: &Node) -> Range<i64> {
    let choices = option.items_at(&["choices"]).iter().filter_map(|choice| choice.json().as_i64());
    let choices: Vec<i64> = choices.collect();
    Range { min: choices.iter().min().copied(), max: choices.iter().max().copied() }
}

fn fields(parameters: Vec<Parameter<'_>>, found: &mut Vec<Diagnostic>) -> Vec<Field> {
    let mut fields = Vec::new();
    if let Some(first) = parameters.get(MOST_FIELDS) {
        let message = format!("more than {MOST_FIELDS} parameters do not fit into a CRD");
        let help = "put them into a mapping that is one parameter";
        found.push(OP486.error(message).at(first.key.key_span.clone(), "").help(help));
        return fields;
    }
    for Parameter { key, mut schema, is_required } in parameters {
        if key.key.starts_with('_') || key.key == "ansible_operator_meta" {
            continue;
        }
        let Some(name) = field_of(&key.key) else {
            let message =
                format!("the spec gets no field for `{}`: keys of a spec become variables in snake case", key.key);
            let help = "rename the variable, e.g. from `fooBar` to `foo_bar`";
            found.push(OP487.warning(message).at(key.key_span.clone(), "").help(help));
            continue;
        };
        if let (Kind::Integer(_), choices @ [_, ..]) = (&schema.kind, key.value.items_at(&["choices"])) {
            let choices: Vec<String> = choices.iter().map(|choice| choice.json().to_string()).collect();
            let end = if schema.comment.is_empty() || schema.comment.ends_with('.') { "" } else { "." };
            schema.comment = format!("{}{end} One of {}.", schema.comment, choices.join(", ")).trim().to_owned();
        }
        if schema.default == Some(Json::Null) {
            schema.default = None;
        }
        fields.push(Field { name, schema, is_required });
    }
    fields
}

/// The key of a spec that Ansible converts to this variable: in camel case if each word begins with a letter and has
/// more than one character, otherwise the variable itself. `None` if no key is converted to it, such as for `fooBar` or
/// `a1b2`.
fn field_of(variable: &str) -> Option<String> {
    let is_snake =
        variable.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    if variable.is_empty() || !is_snake || splits_numbers(variable) {
        return None;
    }
    let words: Vec<&str> = variable.split('_').collect();
    let is_word = |word: &&str| word.len() > 1 && word.starts_with(|letter: char| letter.is_ascii_lowercase());
    if !words.iter().all(is_word) {
        return Some(variable.to_owned());
    }
    let capitals = words[1..].iter().map(|word| format!("{}{}", word[..1].to_uppercase(), &word[1..]));
    Some(words[0].to_owned() + &capitals.collect::<String>())
}

/// `true` for names such as `a1b2`, which operator-sdk splits into three words.
fn splits_numbers(variable: &str) -> bool {
    let mut runs: Vec<(bool, usize)> = Vec::new();
    for letter in variable.chars() {
        let is_digit = letter.is_ascii_digit();
        match runs.last_mut().filter(|(last, _)| *last == is_digit && letter != '_') {
            Some((_, length)) => *length += 1,
            None => runs.push((is_digit, 1)),
        }
    }
    runs.windows(4).any(|runs| matches!(runs, [(false, _), (true, _), (false, 1), (true, _)]))
        && !variable.contains('_')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The spec of the role `web`, which has these files.
    fn spec_of(files: &[(&str, &str)]) -> Object {
        let files = files.iter().map(|(path, text)| (format!("roles/web/{path}"), (*text).to_owned()));
        let mut found = Vec::new();
        let object = spec(&Content::new(vec![Source::Role("web".into())], files), &mut found);
        assert_eq!(found, []);
        object
    }

    #[test]
    fn a_role_without_argument_specs_takes_any_variable() {
        let defaults = ("defaults/main.yml", "size: 1");
        let specs = "argument_specs: {main: {options: {size: {type: int}}}}";
        for (files, is_open) in [
            (vec![defaults], true),
            (vec![defaults, ("meta/main.yml", "dependencies: []")], true),
            (vec![("tasks/main.yml", "[]")], true),
            (vec![defaults, ("meta/argument_specs.yml", specs)], false),
            (vec![("meta/main.yml", specs)], false),
        ] {
            assert_eq!(spec_of(&files).is_open, is_open, "{files:?}");
        }
        assert_eq!(spec_of(&[defaults]).fields[0].name, "size");
    }

    #[test]
    fn fields_become_their_variables() {
        for (variable, field) in [
            ("size", Some("size")),
            ("replica_count", Some("replicaCount")),
            ("http_port", Some("httpPort")),
            ("node2_count", Some("node2Count")),
            ("port_80", Some("port_80")),
            ("a_b", Some("a_b")),
            ("web__url", Some("web__url")),
            ("fooBar", None),
            ("FOO", None),
            ("foo-bar", None),
            ("a1b2", None),
        ] {
            assert_eq!(field_of(variable).as_deref(), field, "{variable}");
        }
    }
}
