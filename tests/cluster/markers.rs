//! Markers are parsed like in the real controller-gen.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use opctl_model::diagnostic::SourceFile;
use opctl_source::markers::table::{MARKERS, Need, Type};
use opctl_source::markers::{self, Markers};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::controller_gen::ControllerGen;

fn read(text: &str) -> Markers {
    markers::read(&SourceFile::new("src/lib.rs", text))
}

/// Compares every name, argument, type and requirement. Diagnostics beyond those of controller-gen are specific to
/// opctl.
#[test]
fn the_table_has_what_the_real_controller_gen_reads() {
    let Some(ControllerGen(binary)) = ControllerGen::find("the_table_has_what_the_real_controller_gen_reads") else {
        return;
    };
    let generators = ["crd", "object", "applyconfiguration", "rbac:roleName=x", "webhook"];
    let output = Command::new(binary).args(generators).arg("-wwww").output().unwrap();
    let categories: Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let theirs = list(&categories).into_iter().flat_map(|category| list(&category["markers"]));
    let mut count = 0;
    for marker in theirs {
        let name = marker["name"].as_str().unwrap();
        let Some(ours) = markers::table::find(name) else {
            let told = read(&format!("/// +{name}=x")).diagnostics;
            assert!(told.len() == 1 && told[0].code.name == "OP103", "{name} is not told: {told:?}");
            count += 1;
            continue;
        };
        let their: BTreeMap<String, (String, bool)> = list(&marker["fields"])
            .iter()
            .map(|field| {
                let text = |key: &str| field[key].as_str().unwrap().to_owned();
                (text("name"), (text("type"), field["optional"].as_bool().unwrap()))
            })
            .collect();
        let our: BTreeMap<String, (String, bool)> = ours
            .arguments
            .iter()
            .map(|argument| {
                let kind = match argument.kind {
                    Type::Text | Type::OneOf(_) => "string",
                    Type::Texts | Type::Lists | Type::SomeOf(_) => "slice",
                    Type::Integer => "int",
                    Type::Boolean => "bool",
                };
                // controller-gen documents these as optional but reports them as missing.
                let is_optional = argument.need != Need::Required || argument.name == "sideEffects";
                (argument.name.to_owned(), (kind.to_owned(), is_optional))
            })
            .collect();
        assert_eq!(our, their, "{name}");
    }
    assert!(count > 80, "only {count} markers of Go");
    let own = MARKERS.iter().filter(|marker| marker.name.starts_with("kubebuilder:")).count();
    assert_eq!(own, 3);
}

/// Names of resources carry the texts, since they may be almost anything; each marker is a role of its own. Arguments
/// are in any order, with or without blanks.
#[test]
fn texts_are_read_as_the_real_controller_gen_reads_them() {
    let Some(controller_gen) = ControllerGen::find("texts_are_read_as_the_real_controller_gen_reads_them") else {
        return;
    };
    let mut runner = TestRunner::deterministic();
    let markers: Vec<String> = (0..2000)
        .map(|set| {
            let arguments = [
                "groups=core".to_owned(),
                "resources = pods".to_owned(),
                format!("resourceNames={}", any_list().new_tree(&mut runner).unwrap().current()),
                "verbs=`get`".to_owned(),
                format!("roleName= \"set-{set}\""),
            ];
            let order = Just(arguments.to_vec()).prop_shuffle().new_tree(&mut runner).unwrap().current();
            // controller-gen truncates a bare text before a blank.
            let comma = prop::sample::select(vec![",", ", ", ",  "]).new_tree(&mut runner).unwrap().current();
            format!("+kubebuilder:rbac:{}", order.join(comma))
        })
        .collect();
    let lines: Vec<&str> = markers.iter().map(String::as_str).collect();
    let theirs = controller_gen.run("rbac:roleName=manager-role", "role.yaml", &lines);
    let mut by_role: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for document in theirs.split("---\n").filter(|document| document.contains("kind:")) {
        let role: Value = serde_saphyr::from_str(document).unwrap();
        let names = role["rules"][0]["resourceNames"].as_array().unwrap().iter();
        let names = names.map(|name| name.as_str().unwrap().to_owned()).collect();
        by_role.insert(role["metadata"]["name"].as_str().unwrap().to_owned(), names);
    }
    for (set, marker) in markers.iter().enumerate() {
        let ours = read(&format!("// {marker}\n"));
        if ours.diagnostics.iter().any(|told| told.message == "`*` is taken as a name") {
            continue;
        }
        assert_eq!(ours.diagnostics, [], "{marker}");
        let names: BTreeSet<String> = ours.operator.rbac[0].resource_names.iter().cloned().collect();
        assert_eq!(names, by_role[&format!("set-{set}")], "{marker}");
    }
}

/// `a;b` or `{a,b}`, in all notations with the same meaning for both.
fn any_list() -> impl Strategy<Value = String> {
    let texts = prop::collection::vec(any_written_text(), 1..4);
    (texts, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(texts, braces, one_more, blanks)| {
        // controller-gen includes a blank before a bare text in the text.
        let all_quoted = texts.iter().all(|text| text.starts_with(['"', '`']));
        let separator = if braces { "," } else { ";" };
        let between = if blanks && all_quoted { format!(" {separator} ") } else { separator.to_owned() };
        let mut list = texts.join(&between);
        if one_more {
            list.push_str(separator);
        }
        if braces { format!("{{{list}}}") } else { list }
    })
}

fn any_written_text() -> impl Strategy<Value = String> {
    prop_oneof![
        // Bare texts. A leading digit does not make them numbers.
        "[a-zA-Z0-9:/.@%+_-]{1,12}",
        "[a-z][a-zé世:/.=-]{0,8}[a-z]",
        "`[a-zA-Z0-9 ,;:{}'\"\\\\/*é世.-]{1,12}`",
        prop::collection::vec(any_quoted_piece(), 1..8).prop_map(|pieces| format!("\"{}\"", pieces.concat())),
    ]
    .prop_filter("it says nothing", |text| !text.trim_matches(['`', '"']).is_empty())
}

fn any_quoted_piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9 ,;:{}'`/*é世.-]",
        Just("\\n".to_owned()),
        Just("\\t".to_owned()),
        Just("\\r".to_owned()),
        Just("\\\\".to_owned()),
        Just("\\\"".to_owned()),
        (0x20_u32..0x7f).prop_map(|code| format!("\\x{code:02x}")),
        (0x20_u32..0xd7ff)
            .prop_filter("controls", |code| !(0x7f..0xa0).contains(code))
            .prop_map(|code| format!("\\u{code:04X}")),
        Just("\\U0001F980".to_owned()),
    ]
}
