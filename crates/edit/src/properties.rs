//! Properties of all edits: the order of commands does not matter, a repeated edit changes nothing, no text of the user
//! is lost, and rustfmt changes nothing.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::Edit;
use super::documents::{Document, Format, documents};

/// Makes the edits in this order, in another order, and again; returns the text.
fn make(text: &str, edits: &[Edit], order: &[Index]) -> Result<String, TestCaseError> {
    let apply = |text: &str, edits: &[Edit]| {
        let result = edits.iter().try_fold(text.to_owned(), |text, edit| edit.apply(&text));
        result.map_err(|error| TestCaseError::fail(format!("{error:?}\n{text}")))
    };
    let mut shuffled = edits.to_vec();
    for (at, index) in order.iter().enumerate().take(edits.len()) {
        shuffled.swap(at, index.index(edits.len()));
    }
    let result = apply(text, edits)?;
    prop_assert_eq!(&apply(text, &shuffled)?, &result, "another order gives another text");
    prop_assert_eq!(&apply(&result, &shuffled)?, &result, "made twice is not made once");
    Ok(result)
}

/// Checks that every old line still exists, in the old order.
fn keeps_lines(old: &str, new: &str) -> Result<(), TestCaseError> {
    let mut lines = new.lines();
    for line in old.lines() {
        prop_assert!(lines.any(|other| other == line), "the line `{line}` is lost in\n{new}");
    }
    Ok(())
}

fn order() -> impl Strategy<Value = Vec<Index>> {
    vec(any::<Index>(), 6)
}

fn rustfmt(text: &str) -> String {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--quiet"])
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("rustfmt is part of the toolchain");
    rustfmt.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = rustfmt.wait_with_output().unwrap();
    assert!(output.status.success(), "rustfmt cannot read:\n{text}");
    String::from_utf8(output.stdout).unwrap()
}

fn module_names() -> impl Strategy<Value = Vec<String>> {
    let name = "(v[0-9]{1,2}((alpha|beta)[0-9])?|[a-c_][a-c_0-9]{1,4}|[A-C]x)";
    let is_name = |name: &String| syn::parse_str::<syn::Ident>(name).is_ok();
    btree_set(name.prop_filter("a keyword", is_name), 1..6).prop_map(|names| names.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn modules(
        there in vec((module_names(), select(vec!["", "\n", "// About it.\n", "/// Its docs.\n", "#[cfg(unix)]\n"])), 0..3),
        head in select(vec!["", "//! Docs.\n\n", "// License.\n\n", "// License.\n\n//! Docs.\n#![forbid(unsafe_code)]\n\n"]),
        names in module_names(),
        order in order(),
    ) {
        let mut text = head.to_owned();
        for (names, before) in there {
            for name in names.iter().filter(|name| name.len() % 2 == 0) {
                text.push_str(&format!("{before}pub mod x{name};\n"));
            }
        }
        text.push_str("\nuse std::fmt;\n");
        let text = rustfmt(&text);
        let edits: Vec<Edit> = names.into_iter().map(|name| Edit::RustMod { name }).collect();
        let result = make(&text, &edits, &order)?;
        keeps_lines(&text, &result)?;
        prop_assert_eq!(&rustfmt(&result), &result);
    }

    #[test]
    fn list_items(
        there in btree_set("[a-f]{6}[0-9]{1,2}::run[a-c]{0,20}\\(ctx\\)", 0..4),
        comment in select(vec!["", "\n        // One a line.\n    "]),
        before in select(vec!["", "// About it.\n", "#[cfg(unix)]\n"]),
        items in btree_set("[a-f]{6}[0-9]{1,2}::run[a-c]{0,20}\\(ctx\\)", 1..5),
        order in order(),
    ) {
        let there: String = there.into_iter().map(|item| format!("{before}{item},\n")).collect();
        let text = rustfmt(&format!("fn all() -> Vec<u8> {{ let x = f(); vec![{comment}{there}] }}"));
        let edits: Vec<Edit> =
            items.into_iter().map(|item| Edit::RustListItem { function: "all".into(), item }).collect();
        let result = make(&text, &edits, &order)?;
        // A list on a single line may be reformatted.
        if !comment.is_empty() {
            keeps_lines(&text, &result)?;
        }
        prop_assert_eq!(&rustfmt(&result), &result);
    }

    #[test]
    fn kube_arguments(
        before in select(KUBE_ARGUMENTS.to_vec()),
        after in select(KUBE_ARGUMENTS.to_vec()),
        group in "[a-z]{1,20}",
        has_comma in any::<bool>(),
        comment in select(vec!["", " // it", "\n// about it\n"]),
        in_module in any::<bool>(),
    ) {
        let group = format!("group = \"{group}\"");
        let mut arguments = vec![before, "version = \"v1\"", after, "kind = \"X\"", &group];
        arguments.retain(|argument| !argument.is_empty());
        // In some cases, the version is the last argument, or in a separate attribute.
        if group.len() % 3 == 0 {
            arguments.sort_by_key(|argument| argument.starts_with("version"));
        }
        let between = if group.len() % 5 == 0 { ")]\n#[kube(" } else { ", " };
        let comma = if has_comma { "," } else { "" };
        let last = arguments.pop().unwrap();
        let text = format!("#[kube({}{between}{last}{comma})]{comment}\npub struct XSpec {{}}", arguments.join(", "));
        let text = rustfmt(&if in_module { format!("mod inner {{ {text} }}") } else { text });
        let edit = Edit::KubeArgument { kind: "X".into(), version: "v1".into(), argument: "storage = false".into() };
        let result = make(&text, &[edit], &[])?;
        prop_assert_eq!(result.matches("storage = false").count(), 1);
        prop_assert_eq!(&rustfmt(&result), &result);
    }

    #[test]
    fn yaml_items(
        there in btree_set("[a-e./]{1,4}x", 0..4),
        style in select(vec!["- ", "  - ", "# About it.\n- ", "\n- ", "  # About it.\n\n  - "]),
        around in select(vec![("", ""), ("# Top.\nkind: X\n", "\n# Below.\npatches: []\n"), ("a: |\n  b\n\n", "z: 1")]),
        items in btree_set("[a-e./]{1,4}", 1..6),
        newline in select(vec!["\n", "\r\n"]),
        order in order(),
    ) {
        let there: String = there.into_iter().map(|item| format!("{style}{item} # {item}\n")).collect();
        let key = if there.is_empty() { "" } else { "resources:\n" };
        let text = format!("{}{key}{there}{}", around.0, around.1).replace('\n', newline);
        let edits: Vec<Edit> =
            items.into_iter().map(|item| Edit::YamlListItem { key: "resources".into(), item }).collect();
        let result = make(&text, &edits, &order)?;
        keeps_lines(&text, &result)?;
        if text.contains('\n') {
            prop_assert_eq!(result.matches('\n').count(), result.matches(newline).count());
        }
    }

    #[test]
    fn yaml_entries(
        there in btree_set(("[a-c]{1,2}", "v[1-3]"), 0..4),
        style in select(vec![("- ", "  "), ("  - ", "    "), ("-\n  # About it.\n  ", "  "), ("# About it.\n-   ", "    ")]),
        entries in btree_set(("[a-d]{1,2}", "v[1-3]"), 1..6),
        fields in select(vec![
            serde_json::json!({}),
            serde_json::json!({"api": {"crdVersion": "v1", "namespaced": true}, "controller": true}),
            serde_json::json!({"zone": "3", "webhooks": {"a": {"b": null}}, "list": ["x", 1]}),
        ]),
        order in order(),
    ) {
        let (dash, pad) = style;
        let there: String = there
            .into_iter()
            .map(|(kind, version)| format!("{dash}kind: {kind} # it\n{pad}plugin: {{a: 1}}\n\n{pad}version: {version}\n"))
            .collect();
        let key = if there.is_empty() { "" } else { "resources:\n" };
        let text = format!("domain: x\n{key}{there}# The end.\nversion: \"3\"\n");
        let edits: Vec<Edit> = entries
            .into_iter()
            .map(|(kind, version)| {
                let mut fields = fields.as_object().unwrap().clone();
                fields.insert("kind".into(), kind.into());
                fields.insert("version".into(), version.into());
                let identity = vec!["kind".to_owned(), "version".to_owned()];
                Edit::YamlEntry { key: "resources".into(), identity, fields }
            })
            .collect();
        let result = make(&text, &edits, &order)?;
        // A new first field takes over the dash of its entry.
        let plain = |text: &str| -> String {
            text.replace("- ", "  ").replace("-\n", "\n").lines().map(|line| format!("{}\n", line.trim())).collect()
        };
        keeps_lines(&plain(&text), &plain(&result))?;
    }

    #[test]
    fn workspace_members(
        there in btree_set("[a-c/]{1,3}x", 0..4),
        layout in select(vec![("[", "", ", ", "]"), ("[\n", "    ", ",\n", "]"), ("[ # all\n", "  # It.\n  ", ", # it\n", "]\n")]),
        items in btree_set("[a-d]{1,4}", 1..5),
        order in order(),
    ) {
        let (open, before, after, close) = layout;
        let there: String = there.into_iter().map(|item| format!("{before}\"{item}\"{after}")).collect();
        let text = format!("[package]\nname = \"x\"\n\n[workspace]\nresolver = \"3\"\nmembers = {open}{there}{close} # end\n");
        let edits: Vec<Edit> = items.into_iter().map(|path| Edit::CargoMember { path }).collect();
        let result = make(&text, &edits, &order)?;
        if !there.is_empty() && open.contains('\n') {
            keeps_lines(&text, &result)?;
        }
    }
}

const KUBE_ARGUMENTS: [&str; 5] = [
    "",
    "namespaced",
    "doc = \"Something that is served for a long time.\"",
    "printcolumn(name = \"Age\", type_ = \"date\", json_path = \".metadata.creationTimestamp\")",
    "validation = Rule::new(\"self.a\")",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any edit of any text is either made or refused, and an edit that is made is in the result.
    #[test]
    fn odd_yaml_is_edited_or_refused(
        head in "(k: [a-c|>'\"&*{}\\[\\]#,-]{0,4}\r?\n)?",
        body in "([ ]{0,3}(-|- |#|k: |k:|)[ ]?['\"a-cä:,#\\[\\]{}|>&*!\t]{0,5}\r?\n){0,6}",
    ) {
        let text = format!("{head}list:\n{body}");
        let fields = serde_json::json!({"k": "b", "m": {"n": 1}}).as_object().unwrap().clone();
        for edit in [
            Edit::YamlListItem { key: "list".into(), item: "b".into() },
            Edit::YamlEntry { key: "list".into(), identity: vec!["k".into()], fields },
        ] {
            let Ok(result) = edit.apply(&text) else { continue };
            prop_assert_eq!(edit.apply(&result), Ok(result.clone()));
            keeps_lines(&comments(&text), &comments(&result))?;
        }
    }

    /// All other lines and documents stay, byte for byte.
    #[test]
    fn a_document_of_an_odd_file_is_replaced_or_refused(
        before in "(# c\r?\n|---\r?\n|\r?\n|k: \\|\r?\n  # t\r?\n|\\{\\{- if \\.a \\}\\}\r?\n|l: \\{\\{ \\.b \\}\\}\r?\n|\\{\\{/\\* d \\*/\\}\\}\r?\n){0,5}",
        inside in "(x: 1\r?\n|y: [\"'>|]?# t\r?\n|  z\r?\n|# c\r?\n|\r?\n|w: |\\{\\{ \\.b \\}\\}\r?\n|v: 'a\r?\n|  b'\r?\n){0,5}",
        after in "(# c\r?\n|---\r?\n|\r?\n|\\{\\{ end -\\}\\}\r?\n|k: e\r?\n|  # f\r?\n|\\.\\.\\.\r?\n){0,5}",
        name in select(vec!["a", "b"]),
        format in select(vec![Format::Yaml, Format::Template]),
        is_forced in any::<bool>(),
    ) {
        let text = format!("{before}kind: K\nname: a\n{inside}{after}");
        let document = serde_json::json!({"kind": "K", "name": name, "new": ["{{ - # '", 1.5]});
        let identity = ["/kind", "/name"].map(String::from).to_vec();
        let edit = Edit::YamlDocument { document: document.clone(), identity, format };
        let result = if is_forced { edit.force(&text) } else { edit.apply(&text) };
        let Ok(result) = result else { return Ok(()) };
        prop_assert_eq!(edit.apply(&result), Ok(result.clone()), "made twice is not made once");
        let (old, new) = (documents(&text, format).unwrap(), documents(&result, format).unwrap());
        let replaced = old.iter().position(|old| old.value["name"] == name && old.value["kind"] == "K");
        let index = replaced.unwrap_or(old.len());
        prop_assert_eq!(&new[index].value, &document);
        let others = |documents: &[Document]| -> Vec<serde_json::Value> {
            documents.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, it)| it.value.clone()).collect()
        };
        prop_assert_eq!(others(&old), others(&new));
        let written = new[index].range.clone();
        let rest = |text: &str, range: std::ops::Range<usize>| [&text[..range.start], &text[range.end..]].concat();
        match replaced {
            Some(index) => {
                prop_assert_eq!(rest(&text, old[index].range.clone()), rest(&result, written));
                prop_assert!(is_forced || old[index].comments.is_empty());
                prop_assert!(old[index].actions.is_empty());
            }
            None => keeps_lines(&text, &result)?,
        }
    }

    #[test]
    fn odd_rust_is_edited_or_refused(
        text in "(//!? ?ä?\n|\n|pub mod [a-e];|mod [a-e]; // x\n|/\\* c\n\n\\*/ |#!\\[x\\]\n| |use x;|#\\[y\\] |\"\n){0,8}",
        inside in "(x\\(\\),|a, |\n|// c\n|/\\* d \\*/|#\\[z\\] e,|\"ä\n\", ){0,6}",
    ) {
        let edits = [
            Edit::RustMod { name: "c".into() },
            Edit::RustListItem { function: "all".into(), item: "b()".into() },
        ];
        for (edit, text) in edits.iter().zip([text, format!("fn all() -> Vec<u8> {{\n    vec![{inside}]\n}}\n")]) {
            let Ok(result) = edit.apply(&text) else { continue };
            prop_assert_eq!(edit.apply(&result), Ok(result.clone()));
            prop_assert!(syn::parse_file(&result).is_ok());
            prop_assert_eq!(result.matches("// ").count(), text.matches("// ").count());
        }
    }

    #[test]
    fn odd_types_are_edited_or_refused(
        fields in "(a: u8|b: &'static T<\"ä\">|,|, |\r?\n|// c\n|/\\* d\n \\*/|#\\[z\\]|pub ){0,6}",
        arguments in "(version = \"v\"|kind = \"K\"|x\\(y, z\\)|, |,|\r?\n|// c\n|/\\* d\n \\*/|\\)\\] ?#\\[kube\\(|storage){2,8}",
        after in "( |\r?\n|// c\n|/\\* d\n \\*/|#\\[z\\]){0,3}",
    ) {
        let text = format!("#[kube({arguments})]{after}struct S {{{fields}}}");
        for (edit, new) in [
            (Edit::KubeArgument { kind: "K".into(), version: "v".into(), argument: "new = 1".into() }, "new = 1"),
        ] {
            let Ok(result) = edit.apply(&text) else { continue };
            prop_assert_eq!(edit.apply(&result), Ok(result.clone()));
            prop_assert!(syn::parse_file(&result).is_ok());
            prop_assert_eq!(result.matches(new.lines().next().unwrap()).count(), 1);
            for comment in ["// c", "/* d"] {
                prop_assert_eq!(result.matches(comment).count(), text.matches(comment).count());
            }
        }
    }

    #[test]
    fn odd_toml_is_edited_or_refused(
        around in "(\\[t\\]|k = |\\{|1|\"\"\"|# k|#|\r?\n|\n| ){0,6}",
        list in "(\"a\"|\"g\"|, |,|\r?\n|\n|# c\n|\\]|1){0,8}",
    ) {
        let text = format!("{around}\n[dependencies]\nd = {{ features = [{list}] }}\n{around}");
        let edit = Edit::CargoFeature { dependency: "d".into(), feature: "f".into() };
        if let Ok(result) = edit.apply(&text) {
            prop_assert_eq!(edit.apply(&result), Ok(result.clone()));
            prop_assert_eq!(result.matches('#').count(), text.matches('#').count());
        }
    }

    /// A comment changes no code, whatever is around the function.
    #[test]
    fn comments_are_added_to_odd_rust_or_refused(
        above in "(//!? ?ä?\n|// \\+a:c\r?\n|\n|/\\* c\n\n\\*/ |#\\[x\\]\n| |/// d\n|#\\[doc = \"e\"\\] |const A: &str = \"\n// \";){0,8}",
        inside in "(x\\(\\);|\n|// \\+a:c\n|fn g\\(\\) \\{\\}|\"ä\n// \"; ){0,4}",
        function in 0usize..3,
        replaces in any::<bool>(),
    ) {
        let text = format!("{above}fn f() {{ {inside}\n}}\n");
        let instead_of = replaces.then(|| "+a:c".to_owned());
        let edit = Edit::RustComment { function, comment: "+a:b".into(), instead_of };
        if let Ok(result) = edit.apply(&text) {
            prop_assert_eq!(edit.apply(&result), Ok(result.clone()));
            prop_assert!(result.contains("+a:b"));
            prop_assert_eq!(syn::parse_file(&result).unwrap(), syn::parse_file(&text).unwrap());
        }
    }
}

fn comments(text: &str) -> String {
    text.lines().filter(|line| line.trim_start().starts_with('#')).map(|line| format!("{line}\n")).collect()
}

/// A text, and a version of it with lines removed, replaced and added. New lines begin with `by`.
fn edited(base: &[String], by: &str, changes: &[(Index, u8)]) -> Vec<String> {
    let mut lines = base.to_vec();
    for (number, (index, change)) in changes.iter().enumerate() {
        let at = index.index(lines.len() + 1);
        let new = format!("{by} {number}");
        match change % 3 {
            0 => lines.insert(at, new),
            1 if at < lines.len() => lines[at] = new,
            _ if at < lines.len() => _ = lines.remove(at),
            _ => {}
        }
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// No line of either side is lost: it is in the merged text, or in that of the conflict.
    #[test]
    fn a_merge_loses_no_line(
        base in vec("[a-d]", 0..12),
        mine in vec((any::<Index>(), any::<u8>()), 0..6),
        new in vec((any::<Index>(), any::<u8>()), 0..6),
    ) {
        let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let (ours, theirs) = (edited(&base, "mine", &mine), edited(&base, "new", &new));
        let (merged, is_clean) = match super::merge("a", &text(&base), &text(&ours), &text(&theirs)) {
            super::Merged::Clean(merged) => (merged, true),
            super::Merged::Conflict { marked, .. } => (marked, false),
        };
        for line in ours.iter().chain(&theirs).filter(|line| line.len() > 1) {
            prop_assert!(merged.lines().any(|other| other == line), "`{line}` is lost in\n{merged}");
        }
        prop_assert_eq!(super::marker(&merged).is_none(), is_clean);
        if ours == base || theirs == base || ours == theirs {
            let expected = if ours == base { &theirs } else { &ours };
            prop_assert_eq!(merged, text(expected));
        }
    }
}
