//! opctl renders the manifests under `config/` like kubectl.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use opctl_kustomize::yaml::{self, Dialect};
use opctl_kustomize::{Render, Renderer};
use opctl_model::diagnostic::{Diagnostic, SourceFile};
use opctl_model::project::Tree;
use serde_json::Value;

use crate::control_plane::skipped;
use crate::golden::{self, Golden};
use crate::kustomizations::{cases, on_disk};
use crate::sandbox::Sandbox;

#[test]
fn renders_what_kubectl_renders() {
    let mut failures = String::new();
    let mut compared = 0;
    for Project { name, root, folder, .. } in projects() {
        compared += against_kubectl(&name, &root.join(folder), true, &mut failures);
    }
    for case in cases() {
        compared += against_kubectl(&case.name, on_disk(&case.files()).path(), false, &mut failures);
        compared +=
            against_kubectl(&format!("the twin of {}", case.name), on_disk(&case.twin()).path(), false, &mut failures);
    }
    if compared == 0 {
        skipped("kustomizations", "there is no `kubectl` in KUBEBUILDER_ASSETS");
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Scalars are parsed like in kubectl, without a cluster.
#[test]
fn values_are_those_of_kubectl() {
    let Some(assets) = std::env::var_os("KUBEBUILDER_ASSETS") else {
        return skipped("scalars", "there is no `kubectl` in KUBEBUILDER_ASSETS");
    };
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
        // A number that overflows integers is a float, which kubectl prints without an exponent.
        let is_same =
            &ours["data"][key] == theirs || ours["data"][key].is_f64() && ours["data"][key].as_f64() == theirs.as_f64();
        assert!(is_same, "{key} is {theirs} to kubectl, and {} here:\n{text}", ours["data"][key]);
    }
}

/// A project on disk.
struct Project {
    name: String,
    /// The root of its workspace, or else of the project.
    root: PathBuf,
    /// The path from the root.
    folder: String,
    _sandbox: Option<Sandbox>,
}

/// The example and every golden project.
fn projects() -> Vec<Project> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let folder = "memcached".to_owned();
    let example = Project { name: folder.clone(), root: examples, folder, _sandbox: None };
    let golden = golden::names().into_iter().filter(|name| golden::can_be_made(name)).map(|name| {
        let golden = Golden::read(&name);
        let sandbox = golden.make(|_, _| ());
        let root = sandbox.root();
        let folder = sandbox.folder.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        Project { name: golden.name, root, folder, _sandbox: Some(sandbox) }
    });
    [example].into_iter().chain(golden).collect()
}

/// The objects that `kubectl kustomize` renders for a folder, or its error. The outer `None` means that kubectl is
/// missing.
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

/// An object by its name, without the hash suffixes of generated names.
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
    // opctl only knows the keys of generated data.
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

/// Compares every kustomization below a folder with kubectl, and appends each difference to `failures`.
fn against_kubectl(name: &str, root: &Path, is_golden: bool, failures: &mut String) -> usize {
    let mut compared = 0;
    for entry in walkdir::WalkDir::new(root.join("config")).into_iter().map(Result::unwrap) {
        let is_kustomization = entry.file_name() == "kustomization.yaml";
        let Some(folder) = entry.path().parent().filter(|_| is_kustomization) else { continue };
        // The whole includes the parts.
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
            // Objects of a plugin or a remote base are unknown.
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
