//! The language of markers: the recorded cases in `tests/markers`, what holds for any text, and, where `controller-gen` and
//! Go are at hand, the same reading as the real controller-gen's.
//!
//! A new case is one file, `problems/NAME.rs`; `SNAPSHOTS=overwrite` records what is said of it.

#[path = "common/controller_gen.rs"]
mod controller_gen;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use controller_gen::ControllerGen;
use opctl::diagnostic::{SourceFile, Span, render};
use opctl::source::markers::go::{GO_MARKERS, GoForm};
use opctl::source::markers::table::{MARKERS, Need, Type};
use opctl::source::markers::{self, Markers};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

#[test]
fn problems_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/markers/problems");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let cases: BTreeSet<PathBuf> = files.filter(|path| path.extension().is_some_and(|ext| ext == "rs")).collect();
    assert!(!cases.is_empty());
    for case in cases {
        let name = case.file_name().unwrap().to_string_lossy();
        let file = SourceFile::new(format!("src/{name}"), fs::read_to_string(&case).unwrap());
        snapbox::assert_data_eq!(
            render(&markers::read(&file).diagnostics, false),
            snapbox::Data::read_from(&case.with_extension("txt"), None).raw()
        );
    }
}

#[test]
fn every_marker_of_go_is_told() {
    for go in GO_MARKERS {
        let name = if go.form == GoForm::Any { format!("{}:x", go.name) } else { go.name.to_owned() };
        for text in [format!("// +{name}"), format!("/// +{name}=1"), format!("/* +{name}=x */")] {
            let said: Vec<_> = read(&text).diagnostics.into_iter().map(|said| (said.code, said.help)).collect();
            let is_prose = go.form == GoForm::WithValue && !text.contains('=');
            let expected = if is_prose { vec![] } else { vec![("OP103", vec![go.rust.to_owned()])] };
            assert_eq!(said, expected, "{text}");
        }
    }
}

#[test]
fn prose_is_no_marker() {
    for text in [
        "// + more",
        "// +1",
        "// +optional fields are left out",
        "// + optional",
        "// +default",
        "// +k8s support",
        "// +k8ssomething:x",
        "// a + b",
        "// + kubebuilder is what it is ported from",
        "// kubebuilder: see there",
        "// kubebuilder:validation is for Go",
        "/// Write `+kubebuilder:rbac` above it.",
        "/// +kubebuilder:rbac is read by opctl.",
        "// ++",
        "// +",
        "// +opt",
        "// +x:y",
        "let text = \"// +kubebuilder:rbca\";",
        "let text = r#\"\n// +kubebuilder:rbca\n\"#;",
        "// ends with a backslash \\\n// +1",
    ] {
        let markers = read(text);
        assert_eq!((markers.count, markers.diagnostics), (0, vec![]), "{text}");
    }
}

/// Every name, argument, type and need; what is told of more than controller-gen is opctl's own.
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
            assert!(told.len() == 1 && told[0].code == "OP103", "{name} is not told: {told:?}");
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
                    Type::Texts | Type::SomeOf(_) => "slice",
                    Type::Integer => "int",
                    Type::Boolean => "bool",
                };
                // controller-gen says of these that they may be left out, and then that they are missing.
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

fn read(text: &str) -> Markers {
    markers::read(&SourceFile::new("src/lib.rs", text))
}

/// Every place that is told is one of the text, with something in it.
fn check_places(markers: &Markers) -> Result<(), TestCaseError> {
    let told = markers.diagnostics.iter().filter_map(|told| told.place.as_ref().map(|(span, _)| span));
    let read = markers.rbac.iter().map(|rule| &rule.place);
    let allows = markers.allows.iter().flat_map(|allow| [&allow.place, &allow.covers]);
    let stated = markers.webhooks.iter().map(|webhook| &webhook.definition);
    let stated = stated.chain(markers.conversions.iter().map(|conversion| &conversion.definition));
    let stated = stated.flat_map(|stated| stated.places.values().chain([&stated.place]));
    let others = markers.webhook_configurations.iter().map(|configuration| &configuration.place);
    let others = others.chain(markers.authorities.iter().map(|authority| &authority.place));
    for Span { file, range } in told.chain(read).chain(allows).chain(stated).chain(others) {
        let text = file.text.get(range.clone());
        prop_assert!(text.is_some_and(|text| !text.is_empty()), "{range:?} of {:?}", file.text);
    }
    prop_assert_eq!(markers.diagnostics.iter().filter(|told| told.place.is_none()).count(), 0);
    // Rendering asks for the lines around.
    render(&markers.diagnostics, false);
    Ok(())
}

const PIECES: &[&str] = &[
    "// +kubebuilder:rbac:",
    "// +kubebuilder:webhook:",
    "// +kubebuilder:webhookconfiguration:mutating=true,name=",
    "// +opctl:conversion:group=a.example.com,kind=",
    "// +opctl:ca:file=",
    "// +opctl:allow:OP401 ",
    "// +optional",
    "/// +kubebuilder:rbac:groups=a",
    "//",
    "// ",
    "\n",
    "\r\n",
    "\\\n",
    "\\\n// ",
    "groups=apps,",
    "resources=pods,",
    "verbs=get",
    ";list",
    "={a, b}",
    "{",
    "}",
    "\"",
    "`",
    "'",
    "\\",
    "/*",
    "*/",
    "fn f() {",
    ";",
    "é",
    "\u{1F980}",
    "\u{feff}",
    "\0",
    "\t",
    "=",
    ",",
    ":",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_a_panic(text in "(?s).{0,200}") {
        check_places(&read(&text))?;
        check_places(&read(&format!("// +kubebuilder:rbac:{text}")))?;
        check_places(&read(&format!("// +{text}")))?;
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_places(&read(&String::from_utf8_lossy(&bytes)))?;
    }

    #[test]
    fn pieces_of_markers_are_read_without_a_panic(picks in prop::collection::vec(0..PIECES.len(), 0..40)) {
        check_places(&read(&picks.into_iter().map(|pick| PIECES[pick]).collect::<String>()))?;
    }

    /// A slip of the fingers is never silent: it is read, or told.
    #[test]
    fn a_slip_is_never_silent(
        example in any_example(),
        at in any::<prop::sample::Index>(),
        slip in prop_oneof![Just(None), any::<char>().prop_map(Some)],
        removes in any::<bool>(),
    ) {
        let places: Vec<usize> = example.char_indices().map(|(place, _)| place).collect();
        // Without its `+`, a longer text than a name is prose.
        let place = places[1 + at.index(places.len() - 1)];
        let (before, after) = example.split_at(place);
        let after = &after[if removes { after.chars().next().map_or(0, char::len_utf8) } else { 0 }..];
        let slip: String = slip.into_iter().filter(|c| *c != '\n').collect();
        let text = format!("// {before}{slip}{after}\n");
        let markers = read(&text);
        check_places(&markers)?;
        prop_assert!(markers.count + markers.diagnostics.len() > 0, "{text}");
    }

    /// Wherever a marker is broken, it says the same, and what is told of it is told at the same words.
    #[test]
    fn a_marker_may_be_continued_anywhere(
        example in any_example(),
        typo in any::<bool>(),
        breaks in prop::collection::vec((any::<prop::sample::Index>(), " {0,4}"), 0..4),
    ) {
        let example = if typo { example.replacen("e", "q", 2) } else { example };
        let mut places: Vec<(usize, String)> =
            breaks.into_iter().map(|(index, indent)| (1 + index.index(example.len() - 1), indent)).collect();
        // Blanks at the start of a line do not count, and `+` begins another marker.
        places.retain(|(place, _)| {
            example.is_char_boundary(*place) && !example[*place..].starts_with([' ', '+'])
        });
        places.sort();
        places.dedup_by_key(|(place, _)| *place);
        let mut broken = example.clone();
        for (place, indent) in places.into_iter().rev() {
            broken.insert_str(place, &format!("\\\n    // {indent}"));
        }
        let (whole, broken) = (read(&format!("// {example}\n")), read(&format!("// {broken}\n")));
        let joined = |span: &Span| {
            let text = &span.file.text[span.range.clone()];
            text.split("\\\n").map(|line| line.trim_start_matches("    //")).collect::<String>().replace(' ', "")
        };
        let told = |markers: &Markers| -> Vec<(String, String)> {
            let told = markers.diagnostics.iter();
            told.map(|told| (told.message.clone(), joined(&told.place.as_ref().unwrap().0))).collect()
        };
        prop_assert_eq!(told(&whole), told(&broken));
        let rules = |markers: &Markers| -> Vec<String> {
            let rules = markers.rbac.iter();
            rules.map(|rule| format!("{:?} {:?} {:?} {}", rule.groups, rule.resources, rule.verbs, joined(&rule.place))).collect()
        };
        prop_assert_eq!(rules(&whole), rules(&broken));
    }
}

fn any_example() -> impl Strategy<Value = String> {
    let examples: Vec<String> =
        MARKERS.iter().flat_map(|marker| marker.examples).map(|example| format!("+{example}")).collect();
    prop::sample::select(examples)
}

/// Names of resources may be almost anything, so they carry the texts; each marker is a role of its own. Arguments stand in
/// any order, with blanks or without.
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
            // From a bare text before a blank, controller-gen loses the end.
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
        let names: BTreeSet<String> = ours.rbac[0].resource_names.iter().cloned().collect();
        assert_eq!(names, by_role[&format!("set-{set}")], "{marker}");
    }
}

/// `a;b` or `{a,b}`, in all the ways that mean the same to both.
fn any_list() -> impl Strategy<Value = String> {
    let texts = prop::collection::vec(any_written_text(), 1..4);
    (texts, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(texts, braces, one_more, blanks)| {
        // controller-gen takes a blank before a bare text for the text.
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
        // Bare. What begins with a digit is no number here.
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
