//! Changes of `format` in CRDs, compared with the behavior of an API server in `tests/compat/formats.txt`.

use std::collections::BTreeSet;

use opctl_schema::apiserver::Field;
use opctl_schema::compat::{self, Impact, Victim};
use serde_json::{Value, json};

use crate::formats::{Accepted, FORMATS, TYPES, path, schema, values};

fn recorded() -> Accepted {
    parse(&std::fs::read_to_string(path()).unwrap())
}

fn parse(text: &str) -> Accepted {
    let groups = text.split("\n\n").flat_map(|group| {
        let (values, fields): (Vec<&str>, Vec<&str>) = group.lines().partition(|line| line.starts_with(' '));
        let values: BTreeSet<String> = values.into_iter().map(|value| value.trim_start().to_owned()).collect();
        let fields = fields.into_iter().map(|field| field.split_once(": ").unwrap());
        let key = |name: &str, format: &str| (name.to_owned(), if format == "none" { "" } else { format }.to_owned());
        fields.map(|(name, format)| (key(name, format), values.clone())).collect::<Vec<_>>()
    });
    groups.collect()
}

#[test]
fn values_of_each_format_are_accepted_as_by_an_api_server() {
    let mut wrong = Vec::new();
    for ((name, format), accepted) in recorded() {
        let field = Field::parse(&schema(&name, &format)).unwrap();
        for value in values() {
            let expected = accepted.contains(&value.to_string());
            if field.accepts(&value).is_some_and(|accepts| accepts != expected) {
                wrong.push(format!("{name} {format}: {value} is accepted: {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// For each pair of formats, a change is breaking for writers if and only if the API server rejects a value.
#[test]
fn a_change_of_format_breaks_writers_if_the_api_server_refuses_a_value() {
    let recorded = recorded();
    let mut wrong = Vec::new();
    // The other formats apply to strings.
    let numeric =
        ["", "date", "password", "x-unknown"].into_iter().chain(FORMATS.into_iter().filter(|it| is_of_rust(it)));
    let numeric: Vec<&str> = numeric.collect();
    for name in TYPES {
        let formats = if name == "string" { &FORMATS[..] } else { &numeric };
        for old in formats {
            for new in formats {
                let accepted = |format: &str| &recorded[&(name.to_owned(), format.to_owned())];
                let refused: Vec<&String> = accepted(old).difference(accepted(new)).collect();
                let changes = compat::compare(&[crd(schema(name, old))], &[crd(schema(name, new))]);
                let breaks =
                    |it: &compat::Change| it.victims.contains(&Victim::Writers) && it.impact >= Impact::Warning;
                if changes.iter().any(breaks) == refused.is_empty() {
                    wrong.push(format!("{name}: {old} → {new} refuses {refused:?}: {changes:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// `true` for formats that schemars uses for numbers.
fn is_of_rust(format: &str) -> bool {
    format.starts_with("int") || format.starts_with("uint") || ["float", "double"].contains(&format)
}

fn crd(field: Value) -> Value {
    let schema =
        json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": { "a": field } } } });
    let version = json!({ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } });
    json!({
        "metadata": { "name": "webs.example.com" },
        "spec": { "group": "example.com", "names": { "kind": "Web", "plural": "webs" }, "versions": [version] },
    })
}
