//! The manifests under `config/`: what kustomize renders of them, and the names in them that lead nowhere.
//!
//! A case is one file of `tests/config`: sections `-- path --` are a project; `-- right: path --` is what the file must be
//! (`none`: not be) for nothing to be said; `-- said --` is what is said. `SNAPSHOTS=overwrite` writes the last.
#![cfg(unix)]

#[path = "common/golden.rs"]
mod golden;
#[path = "cli/sandbox.rs"]
mod sandbox;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use golden::Golden;
use opctl::config;
use opctl::config::render::{Render, Renderer};
use opctl::config::yaml::{self, Dialect, Node};
use opctl::diagnostic::{self, Diagnostic, SourceFile};
use opctl::project::{ProjectFile, Tree};
use proptest::prelude::*;
use sandbox::Sandbox;
use serde_json::Value;

/// A project that is not on disk.
struct Case {
    name: String,
    files: BTreeMap<String, String>,
    right: BTreeMap<String, String>,
    said: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config")
}

fn cases() -> Vec<Case> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let cases: Vec<Case> = paths.iter().map(|path| Case::read(path)).collect();
    assert!(cases.len() > 20, "the cases are not found");
    cases
}

impl Case {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut case = Self { name, files: BTreeMap::new(), right: BTreeMap::new(), said: String::new() };
        for (head, text) in sections(&text) {
            match head.strip_prefix("right: ") {
                Some(path) => drop(case.right.insert(path.into(), text)),
                None if head == "said" => case.said = text,
                None => drop(case.files.insert(head, text)),
            }
        }
        case
    }

    /// With what makes it right.
    fn twin(&self) -> BTreeMap<String, String> {
        let mut files = self.files.clone();
        for (path, text) in &self.right {
            match text.trim() {
                "none" => drop(files.remove(path)),
                _ => drop(files.insert(path.clone(), text.clone())),
            }
        }
        files
    }
}

/// The texts below lines `-- head --`.
fn sections(text: &str) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let head = line.trim_end().strip_prefix("-- ").and_then(|line| line.strip_suffix(" --"));
        match (head, sections.last_mut()) {
            (Some(head), _) => sections.push((head.into(), String::new())),
            (None, Some((_, text))) => text.push_str(line),
            (None, None) => {}
        }
    }
    sections
}

fn on_disk(files: &BTreeMap<String, String>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn said(root: &Path) -> (String, Vec<Diagnostic>) {
    let tree = Tree::at(root);
    let mut found = config::check(&tree, "");
    // Most cases are no projects.
    if let Ok(project) = ProjectFile::read(&tree) {
        found.extend(config::unwatched(&config::objects(&tree, ""), &project.namespaces));
    }
    let allows = config::allows(&tree, "");
    found.retain(|one| {
        let (place, _) = one.place.as_ref().unwrap();
        let is_covered = |range: &std::ops::Range<usize>| range.contains(&place.range.start);
        !allows.iter().any(|it| it.code == one.code && it.covers.file == place.file && is_covered(&it.covers.range))
    });
    (diagnostic::render(&found, false), found)
}

#[test]
fn each_case_is_said_and_its_twin_is_not() {
    let overwrite = std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite");
    let mut failures = String::new();
    for case in cases() {
        let (said, found) = said(on_disk(&case.files).path());
        if overwrite {
            let path = folder().join(format!("{}.txt", case.name));
            let text = fs::read_to_string(&path).unwrap();
            let head = text.split("-- said --\n").next().unwrap();
            fs::write(path, format!("{head}-- said --\n{}\n", said.trim_end())).unwrap();
        } else if said.trim() != case.said.trim() {
            writeln!(failures, "{} says:\n{said}", case.name).unwrap();
        }
        if found.is_empty() != case.right.is_empty() {
            writeln!(failures, "{} says something, or has a right twin: one of both", case.name).unwrap();
        }
        let (twin, _) = self::said(on_disk(&case.twin()).path());
        if !twin.is_empty() {
            writeln!(failures, "the twin of {} says:\n{twin}", case.name).unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// A project on disk.
struct Project {
    name: String,
    /// The workspace's, or its own.
    root: PathBuf,
    /// From the root.
    folder: String,
    _sandbox: Option<Sandbox>,
}

/// The example, and every golden project.
fn projects() -> Vec<Project> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let folder = "memcached".to_owned();
    let example = Project { name: folder.clone(), root: examples, folder, _sandbox: None };
    let golden = golden::names().into_iter().map(|name| {
        let golden = Golden::read(&name);
        let sandbox = golden.make(|_, _| ());
        let root = sandbox.root();
        let folder = sandbox.folder.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        Project { name: golden.name, root, folder, _sandbox: Some(sandbox) }
    });
    [example].into_iter().chain(golden).collect()
}

#[test]
fn golden_projects_are_clean() {
    for Project { name, root, folder, .. } in projects() {
        let tree = Tree::at(&root);
        let default = Renderer::new(&tree).render(&opctl::project::join(&folder, "config/default"), &[]);
        assert!(default.is_closed && default.objects.len() > 5, "{name} is not judged");
        let found = config::check(&tree, &folder);
        assert!(found.is_empty(), "{name}: {}", diagnostic::render(&found, false));
    }
}

/// Every text of the example's manifests, one after the other, is made another one. What is then said is recorded: the
/// names that others refer to are noticed, and nothing else is.
#[test]
fn renamed_names_are_noticed() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/memcached");
    let mut project = Tree::at(&example);
    let default = "config/default/kustomization.yaml";
    let text = fs::read_to_string(example.join(default)).unwrap();
    let all = text + "components:\n  - ../leader-election\n  - ../network-policy\n  - ../prometheus\n";
    project.lay_over(default, all);
    let mut table = String::new();
    for path in project.files_below("config") {
        let text = project.read(&path).unwrap().unwrap();
        if path.contains("/crd/bases/") {
            continue;
        }
        for node in yaml::documents(&SourceFile::new(&path, text.as_str()), Dialect::Kustomize).unwrap() {
            each_text(&node, "", &mut |place, key, span| {
                let mut changed = project.clone();
                let end = span.end - usize::from(text[..span.end].ends_with(['"', '\'']));
                changed.lay_over(&path, [&text[..end], "x", &text[end..]].concat());
                let found = config::check(&changed, "");
                let codes: Vec<String> = found.iter().map(|it| it.code.to_owned()).collect();
                let codes = if codes.is_empty() { "-".to_owned() } else { codes.join(" ") };
                let short = path.strip_prefix("config/").unwrap();
                writeln!(table, "{codes:14} {short} {place}{key}: {}", &text[span.clone()]).unwrap();
            });
        }
    }
    snapbox::assert_data_eq!(table, snapbox::Data::read_from(&folder().join("../config_mutations.txt"), None).raw());
}

/// Texts, and the keys of labels.
fn each_text(node: &Node, place: &str, visit: &mut impl FnMut(&str, &str, &std::ops::Range<usize>)) {
    match &node.value {
        yaml::Value::Text(_) => visit(place, "", &node.span.range),
        yaml::Value::List(items) => items.iter().for_each(|item| each_text(item, &format!("{place}[]"), visit)),
        yaml::Value::Map(entries) => {
            for entry in entries {
                if ["labels", "matchLabels", "selector"].iter().any(|field| place.ends_with(field)) {
                    visit(place, " key", &entry.key_span.range);
                }
                each_text(&entry.value, &format!("{place}.{}", entry.key), visit);
            }
        }
        _ => {}
    }
}

/// `kubectl kustomize` of a folder: the objects, or why there are none. The outer `None`: there is no kubectl.
fn kustomize(folder: &Path) -> Option<Result<BTreeMap<String, Value>, String>> {
    let assets = std::env::var_os("KUBEBUILDER_ASSETS")?;
    let output = Command::new(Path::new(&assets).join("kubectl")).arg("kustomize").arg(folder).output().ok()?;
    if !output.status.success() {
        return Some(Err(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let documents = yaml::documents(&SourceFile::new("stdout", text), Dialect::Kustomize).unwrap();
    Some(Ok(documents.iter().map(|node| named(node.json())).collect()))
}

fn rendered(render: &Render) -> BTreeMap<String, Value> {
    render.objects.iter().map(|object| named(object.node.json())).collect()
}

/// An object by what it is called, without the hashes at the end of generated names.
fn named(mut object: Value) -> (String, Value) {
    let without_hash = |text: &mut String| {
        if let Some((name, hash)) = text.rsplit_once('-')
            && hash.len() == 10
            && hash.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        {
            *text = name.to_owned();
        }
    };
    texts(&mut object, &without_hash);
    // Only the keys of generated data are known.
    if matches!(object["kind"].as_str(), Some("ConfigMap" | "Secret")) {
        for field in ["data", "stringData", "binaryData"] {
            for (_, value) in object[field].as_object_mut().into_iter().flatten() {
                *value = Value::Null;
            }
        }
        for field in ["type", "stringData", "binaryData", "data"] {
            object.as_object_mut().unwrap().retain(|key, value| key != field || !(value.is_null() || field == "type"));
        }
    }
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let name = ["/apiVersion", "/kind", "/metadata/namespace", "/metadata/name"].map(text).join(" ");
    (name, object)
}

fn texts(value: &mut Value, change: &impl Fn(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| texts(item, change)),
        Value::Object(entries) => entries.values_mut().for_each(|value| texts(value, change)),
        _ => {}
    }
}

/// Holds every kustomization below a folder against kubectl's; tells of each difference.
fn against_kubectl(name: &str, root: &Path, is_golden: bool, failures: &mut String) -> usize {
    let mut compared = 0;
    for entry in walkdir::WalkDir::new(root.join("config")).into_iter().map(Result::unwrap) {
        let is_kustomization = entry.file_name() == "kustomization.yaml";
        let Some(folder) = entry.path().parent().filter(|_| is_kustomization) else { continue };
        // What kubectl does with the parts it does with the whole.
        if is_golden && !(folder.ends_with("default") || folder.ends_with("samples")) {
            continue;
        }
        let Some(theirs) = kustomize(folder) else { return 0 };
        compared += 1;
        let inner = folder.strip_prefix(root).unwrap().to_str().unwrap();
        let tree = Tree::at(root);
        let mut renderer = Renderer::new(&tree);
        let render = renderer.render(inner, &[]);
        let errors: Vec<&Diagnostic> = renderer.problems.iter().filter(|problem| problem.is_error()).collect();
        match theirs {
            // A plugin's or another computer's objects are not known.
            Err(_) if !errors.is_empty() || !render.is_closed => {}
            Err(error) => writeln!(failures, "{name} {inner}: kubectl refuses it: {error}").unwrap(),
            Ok(_) if !errors.is_empty() => writeln!(failures, "{name} {inner}: kubectl takes it: {errors:#?}").unwrap(),
            Ok(_) if !render.is_closed => {}
            Ok(theirs) => {
                let ours = rendered(&render);
                if ours != theirs {
                    let (ours, theirs) = (format!("{ours:#?}"), format!("{theirs:#?}"));
                    let diff = similar::TextDiff::from_lines(&theirs, &ours);
                    writeln!(failures, "{name} {inner}:\n{}", diff.unified_diff()).unwrap();
                }
            }
        }
    }
    compared
}

#[test]
fn renders_what_kubectl_renders() {
    let mut failures = String::new();
    let mut compared = 0;
    for Project { name, root, folder, .. } in projects() {
        compared += against_kubectl(&name, &root.join(folder), true, &mut failures);
    }
    for case in cases() {
        compared += against_kubectl(&case.name, on_disk(&case.files).path(), false, &mut failures);
        compared +=
            against_kubectl(&format!("the twin of {}", case.name), on_disk(&case.twin()).path(), false, &mut failures);
    }
    if compared == 0 {
        eprintln!("not held against kubectl: there is none in KUBEBUILDER_ASSETS");
    }
    assert!(failures.is_empty(), "{failures}");
}

/// kubectl's own reading of scalars, without a cluster.
#[test]
fn values_are_those_of_kubectl() {
    let Some(assets) = std::env::var_os("KUBEBUILDER_ASSETS") else { return };
    let scalars = "yes No ON off y n true False ~ null '' 0 -0 +7 012 0o14 0x1F 0b101 -0b11 1_000 08 1.0 1.5 1e3 1E-2 .5 5. -.5 +.5 \
                   1e400 0x 1e 1.2.3 12:30 2001-01-01 18446744073709551615 9223372036854775808 -9223372036854775809 '1' \"1\" \
                   !!str 1 !!int 7 !!float 1 !!bool yes - ._5 _1 1_ 0_1 0x_1F 1__0 +0x1F -012 0777 0o8 00 <<";
    let mut words = scalars.split_whitespace();
    let mut text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {b: c}}\ndata:\n".to_owned();
    let mut number = 0;
    while let Some(word) = words.next() {
        let value = if word.starts_with("!!") { format!("{word} {}", words.next().unwrap()) } else { word.to_owned() };
        if value != "-" {
            writeln!(text, "  k{number}: {value}").unwrap();
            number += 1;
        }
    }
    let folder = on_disk(&BTreeMap::from([("a.yaml".to_owned(), text.clone())]));
    let mut kubectl = Command::new(Path::new(&assets).join("kubectl"));
    let output =
        kubectl.args(["label", "--local", "-o", "json", "b=c", "-f"]).arg(folder.path().join("a.yaml")).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let theirs: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ours = yaml::documents(&SourceFile::new("a.yaml", text.as_str()), Dialect::Kubectl).unwrap()[0].json();
    assert!(number > 50);
    for (key, theirs) in theirs["data"].as_object().unwrap() {
        // What is too large for an integer is a float, which kubectl writes without an exponent.
        let is_same =
            &ours["data"][key] == theirs || ours["data"][key].is_f64() && ours["data"][key].as_f64() == theirs.as_f64();
        assert!(is_same, "{key} is {theirs} to kubectl, and {} here:\n{text}", ours["data"][key]);
    }
}

proptest! {
    #[test]
    fn random_text_never_panics(text in "[-a-c:\\[\\]{}&*!|>'\"#%@, \n\t?.0-9~<]{0,80}") {
        let _ = yaml::documents(&SourceFile::new("a.yaml", text), Dialect::Kubectl);
    }
}
