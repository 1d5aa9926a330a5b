//! Diagnostics about names in the manifests under `config/` that refer to nothing.
#![cfg(unix)]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use opctl_kustomize::config;
use opctl_kustomize::yaml::{self, Dialect, Node};
use opctl_model::diagnostic::{self, Diagnostic, SourceFile};
use opctl_model::project::{ProjectFile, Tree};
use proptest::prelude::*;

use crate::kustomizations::{cases, folder, on_disk};

fn said(root: &Path) -> (String, Vec<Diagnostic>) {
    let tree = Tree::at(root);
    let mut found = config::check(&tree, "");
    // Most cases are not projects.
    if let Ok(project) = ProjectFile::read(&tree) {
        found.extend(config::unwatched(&config::objects(&tree, ""), &project.namespaces));
    }
    let allows = config::allows(&tree, "");
    found.retain(|one| {
        let (place, _) = one.span.as_ref().unwrap();
        let is_covered = |range: &std::ops::Range<usize>| range.contains(&place.range.start);
        !allows
            .iter()
            .any(|it| it.code == one.code.name && it.covers.file == place.file && is_covered(&it.covers.range))
    });
    (diagnostic::render(&found, false), found)
}

#[test]
fn each_case_is_said_and_its_twin_is_not() {
    let overwrite = std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite");
    let mut failures = String::new();
    for case in cases() {
        let recorded = case.sections.iter().find(|(head, _)| head == "said").map_or("", |(_, text)| text);
        let (said, found) = said(on_disk(&case.files()).path());
        if overwrite {
            let path = folder().join(format!("{}.txt", case.name));
            let text = fs::read_to_string(&path).unwrap();
            let head = text.split("-- said --\n").next().unwrap();
            fs::write(path, format!("{head}-- said --\n{}\n", said.trim_end())).unwrap();
        } else if said.trim() != recorded.trim() {
            writeln!(failures, "{} says:\n{said}", case.name).unwrap();
        }
        let has_twin = case.sections.iter().any(|(head, _)| head.starts_with("right: "));
        if found.is_empty() == has_twin {
            writeln!(failures, "{} says something, or has a right twin: one of both", case.name).unwrap();
        }
        let (twin, _) = self::said(on_disk(&case.twin()).path());
        if !twin.is_empty() {
            writeln!(failures, "the twin of {} says:\n{twin}", case.name).unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Changes every text of the example's manifests, one at a time. The diagnostics are recorded: changes of names that
/// others refer to are reported, and no others.
#[test]
fn renamed_names_are_noticed() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/memcached");
    let mut project = Tree::at(&example);
    let default = "config/default/kustomization.yaml";
    let text = fs::read_to_string(example.join(default)).unwrap();
    let all = text + "components:\n  - ../leader-election\n  - ../network-policy\n  - ../prometheus\n";
    project.lay_over(default, all);
    let mut table = String::new();
    for path in project.files_below("config").unwrap() {
        let text = project.read(&path).unwrap().unwrap();
        // Neither contains names of other objects.
        if path.contains("/crd/bases/") || path.ends_with("/alerts.yaml") {
            continue;
        }
        for node in yaml::documents(&SourceFile::new(&path, text.as_str()), Dialect::Kustomize).unwrap() {
            each_text(&node, "", &mut |place, key, span| {
                let mut changed = project.clone();
                let end = span.end - usize::from(text[..span.end].ends_with(['"', '\'']));
                changed.lay_over(&path, [&text[..end], "x", &text[end..]].concat());
                let found = config::check(&changed, "");
                let codes: Vec<String> = found.iter().map(|it| it.code.to_string()).collect();
                let codes = if codes.is_empty() { "-".to_owned() } else { codes.join(" ") };
                let short = path.strip_prefix("config/").unwrap();
                writeln!(table, "{codes:14} {short} {place}{key}: {}", &text[span.clone()]).unwrap();
            });
        }
    }
    snapbox::assert_data_eq!(table, snapbox::Data::read_from(&folder().join("../config_mutations.txt"), None).raw());
}

/// Visits texts and the keys of labels.
fn each_text(node: &Node, place: &str, visit: &mut impl FnMut(&str, &str, &std::ops::Range<usize>)) {
    match &node.value {
        yaml::Value::Text(_) => visit(place, "", &node.span.range),
        yaml::Value::List(items) => items.iter().for_each(|item| each_text(item, &format!("{place}[]"), visit)),
        yaml::Value::Map(entries) => {
            for entry in entries.iter() {
                if ["labels", "matchLabels", "selector"].iter().any(|field| place.ends_with(field)) {
                    visit(place, " key", &entry.key_span.range);
                }
                each_text(&entry.value, &format!("{place}.{}", entry.key), visit);
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn random_text_never_panics(text in "[-a-c:\\[\\]{}&*!|>'\"#%@, \n\t?.0-9~<]{0,80}") {
        let _ = yaml::documents(&SourceFile::new("a.yaml", text), Dialect::Kubectl);
    }
}
