//! The syntax of markers: recorded cases in `tests/markers`, and properties of any text.
//!
//! Each case is one file, `problems/NAME.rs`; `SNAPSHOTS=overwrite` records its diagnostics.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use opctl_model::diagnostic::{SourceFile, Span, render};
use opctl_source::markers::go::{GO_MARKERS, GoForm};
use opctl_source::markers::table::MARKERS;
use opctl_source::markers::{self, Markers};
use proptest::prelude::*;

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
            let said: Vec<_> = read(&text).diagnostics.into_iter().map(|said| (said.code.name, said.help)).collect();
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

fn read(text: &str) -> Markers {
    markers::read(&SourceFile::new("src/lib.rs", text))
}

/// Every span is a non-empty range of the text.
fn check_places(markers: &Markers) -> Result<(), TestCaseError> {
    let told = markers.diagnostics.iter().filter_map(|told| told.span.as_ref().map(|(span, _)| span));
    let read = markers.operator.rbac.iter().map(|rule| &rule.span);
    let allows = markers.operator.allows.iter().flat_map(|allow| [&allow.span, &allow.covers]);
    let stated = markers.operator.webhooks.iter().map(|webhook| &webhook.definition);
    let stated = stated.chain(markers.operator.conversions.iter().map(|conversion| &conversion.definition));
    let stated = stated.flat_map(|stated| stated.places.values().chain([&stated.span]));
    let others = markers.operator.webhook_configurations.iter().map(|configuration| &configuration.span);
    let others = others.chain(markers.authorities.iter().map(|authority| &authority.span));
    for Span { file, range } in told.chain(read).chain(allows).chain(stated).chain(others) {
        let text = file.text.get(range.clone());
        prop_assert!(text.is_some_and(|text| !text.is_empty()), "{range:?} of {:?}", file.text);
    }
    prop_assert_eq!(markers.diagnostics.iter().filter(|told| told.span.is_none()).count(), 0);
    // Rendering accesses the surrounding lines.
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
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

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

    /// A typo is never silent: the marker is parsed, or reported.
    #[test]
    fn a_slip_is_never_silent(
        example in any_example(),
        at in any::<prop::sample::Index>(),
        slip in prop_oneof![Just(None), any::<char>().prop_map(Some)],
        removes in any::<bool>(),
    ) {
        let places: Vec<usize> = example.char_indices().map(|(place, _)| place).collect();
        // Without its `+`, a line longer than a name is prose.
        let place = places[1 + at.index(places.len() - 1)];
        let (before, after) = example.split_at(place);
        let after = &after[if removes { after.chars().next().map_or(0, char::len_utf8) } else { 0 }..];
        let slip: String = slip.into_iter().filter(|c| *c != '\n').collect();
        let text = format!("// {before}{slip}{after}\n");
        let markers = read(&text);
        check_places(&markers)?;
        prop_assert!(markers.count + markers.diagnostics.len() > 0, "{text}");
    }

    /// A marker may be continued at any position, with the same result and with diagnostics at the same text.
    #[test]
    fn a_marker_may_be_continued_anywhere(
        example in any_example(),
        typo in any::<bool>(),
        breaks in prop::collection::vec((any::<prop::sample::Index>(), " {0,4}"), 0..4),
    ) {
        let example = if typo { example.replacen("e", "q", 2) } else { example };
        let mut places: Vec<(usize, String)> =
            breaks.into_iter().map(|(index, indent)| (1 + index.index(example.len() - 1), indent)).collect();
        // Leading blanks of a line are ignored, and `+` begins another marker.
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
            told.map(|told| (told.message.clone(), joined(&told.span.as_ref().unwrap().0))).collect()
        };
        prop_assert_eq!(told(&whole), told(&broken));
        let rules = |markers: &Markers| -> Vec<String> {
            let rules = markers.operator.rbac.iter();
            rules.map(|rule| format!("{:?} {:?} {:?} {}", rule.groups, rule.resources, rule.verbs, joined(&rule.span))).collect()
        };
        prop_assert_eq!(rules(&whole), rules(&broken));
    }
}

fn any_example() -> impl Strategy<Value = String> {
    let examples: Vec<String> =
        MARKERS.iter().flat_map(|marker| marker.examples).map(|example| format!("+{example}")).collect();
    prop::sample::select(examples)
}
