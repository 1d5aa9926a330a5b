//! Every field whose schema admits what its type refuses is reported, with a value that proves it.
//!
//! `tests/undecodable/*.rs` are kinds, one construct a file, and what `opctl check` says beside each. The types are compiled
//! and must refuse the objects that are reported; a real API server must store them, and refuse them once the attribute
//! that the message has is added.

mod common;
#[path = "common/control_plane.rs"]
mod control_plane;
#[path = "common/oracle.rs"]
mod oracle;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use control_plane::ControlPlane;
use opctl::apiserver::undecodable;
use opctl::commands::decoding;
use opctl::diagnostic::{Diagnostic, render};
use opctl::emit::{self, CustomResourceDefinition};
use opctl::project::Tree;
use opctl::source;
use serde_json::Value;

/// What is found in a text.
struct Checked {
    crd: CustomResourceDefinition,
    diagnostics: Vec<Diagnostic>,
    /// A place, and an object that is admitted and not decoded.
    objects: Vec<(String, Value)>,
    unknown: Vec<String>,
}

fn check(name: &str, text: &str) -> Checked {
    let mut tree = Tree::at("nowhere");
    tree.lay_over("Cargo.toml", oracle::manifest("oracle"));
    tree.lay_over("src/lib.rs", text.to_owned());
    let source = source::read(&tree, "");
    assert!(source.diagnostics.is_empty(), "{name}:\n{}", render(&source.diagnostics, false));
    let crds = emit::crds(&source.operator.apis).unwrap_or_else(|errors| panic!("{name}: {}", render(&errors, false)));
    let [crd] = crds.as_slice() else { panic!("{name} has {} kinds", crds.len()) };
    let errors: Vec<_> = opctl::apiserver::check(crd)
        .into_iter()
        .filter(|finding| finding.severity == opctl::diagnostic::Severity::Error)
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:?}");
    let decoding = decoding::check(&source, &crds);
    let (_, reads) = source.reads().remove(0);
    let found = undecodable(crd, "v1", &reads).found;
    Checked {
        objects: found.into_iter().filter_map(|found| Some((found.path, found.object?))).collect(),
        crd: crd.clone(),
        diagnostics: decoding.diagnostics,
        unknown: decoding.unknown,
    }
}

/// The text with all attributes that the messages have.
fn fixed(text: &str, diagnostics: &[Diagnostic]) -> String {
    let attribute = |diagnostic: &Diagnostic| {
        let (place, _) = diagnostic.place.as_ref()?;
        let add = diagnostic.help.iter().find_map(|help| help.strip_prefix("add `#[schemars")?.strip_suffix('`'))?;
        Some((place.range.start, format!("#[schemars{add} ")))
    };
    let mut attributes: Vec<(usize, String)> = diagnostics.iter().filter_map(attribute).collect();
    attributes.sort();
    let mut text = text.to_owned();
    for (at, attribute) in attributes.iter().rev() {
        text.insert_str(*at, attribute);
    }
    text
}

fn cases() -> BTreeMap<String, (PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/undecodable");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let cases = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    cases
        .map(|path| {
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), (path.clone(), fs::read_to_string(&path).unwrap()))
        })
        .collect()
}

#[test]
fn says_what_is_admitted_and_not_decoded() {
    let mut differences = String::new();
    for (name, (path, text)) in cases() {
        let Checked { diagnostics, unknown, .. } = check(&name, &text);
        let mut said = render(&diagnostics, false);
        for field in unknown {
            writeln!(said, "unknown: {field}").unwrap();
        }
        let expected = path.with_extension("txt");
        if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
            fs::write(expected, said).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != said {
            writeln!(differences, "{} (SNAPSHOTS=overwrite accepts it):\n{said}", expected.display()).unwrap();
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

#[test]
fn an_attribute_that_is_added_ends_it() {
    for (name, (_, text)) in cases() {
        let before = check(&name, &text);
        let fixable = |diagnostic: &&Diagnostic| diagnostic.help.iter().any(|help| help.starts_with("add `#[schemars"));
        let left = before.diagnostics.len() - before.diagnostics.iter().filter(fixable).count();
        // An attribute twice does not compile: there the bounds are to be changed.
        if name == "bounds_too_wide" {
            continue;
        }
        let after = check(&name, &fixed(&text, &before.diagnostics));
        assert_eq!(after.diagnostics.len(), left, "{name}:\n{}", render(&after.diagnostics, false));
    }
}

/// The crate with all cases, as they are and fixed. It prints the CRDs, and reads objects.
const CRATE: &str = r#"#![allow(warnings)]

/* modules */
fn main() {
    if std::env::args().count() == 1 {
/* crds */        return;
    }
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (case, object) = line.split_once('\t').unwrap();
        let error = match case {
/* reads */            case => panic!("{case}"),
        };
        println!("{}", error.unwrap_or_default());
    }
}
"#;

#[test]
fn the_compiled_types_refuse_what_is_reported_and_have_the_bounds_that_are_added() {
    let folder = common::operators_target().join("undecodable");
    let (mut modules, mut crds, mut reads) = (String::new(), String::new(), String::new());
    let mut checked = Vec::new();
    let _ = fs::remove_dir_all(folder.join("src"));
    fs::create_dir_all(folder.join("src")).unwrap();
    for (name, (_, text)) in cases() {
        let before = check(&name, &text);
        let mut variants = vec![(name.clone(), text.clone())];
        if name != "bounds_too_wide" {
            variants.push((format!("{name}_fixed"), fixed(&text, &before.diagnostics)));
        }
        for (module, text) in variants {
            fs::write(folder.join(format!("src/{module}.rs")), &text).unwrap();
            writeln!(modules, "mod {module};").unwrap();
            writeln!(crds, "        println!(\"{module}\\t{{}}\", serde_json::to_string(&<{module}::K as kube::CustomResourceExt>::crd()).unwrap());").unwrap();
            writeln!(reads, "            \"{module}\" => serde_json::from_str::<{module}::K>(object).err().map(|error| error.to_string()),").unwrap();
            checked.push((module.clone(), check(&module, &text)));
        }
    }
    let main = CRATE.replace("/* modules */", &modules).replace("/* crds */", &crds).replace("/* reads */", &reads);
    fs::write(folder.join("src/main.rs"), main).unwrap();
    fs::write(folder.join("Cargo.toml"), oracle::manifest("undecodable")).unwrap();
    let lock = include_str!("engine/Cargo.lock").replace("name = \"oracle\"", "name = \"undecodable\"");
    fs::write(folder.join("Cargo.lock"), lock).unwrap();

    let printed = common::output(common::cargo(&folder, &["run", "--quiet"]));
    let mut differences = Vec::new();
    for (line, (module, checked)) in printed.lines().zip(&checked) {
        let (printed, crd) = line.split_once('\t').unwrap();
        assert_eq!(printed, module);
        let read = serde_json::to_value(&checked.crd).unwrap();
        oracle::differ(module, &serde_json::from_str(crd).unwrap(), &read, &mut differences);
    }
    assert!(differences.is_empty(), "read and compiled differ:\n{}", differences.join("\n"));

    let asked: Vec<(&str, &String, &Value)> = checked
        .iter()
        .flat_map(|(module, checked)| checked.objects.iter().map(move |(path, object)| (module.as_str(), path, object)))
        .collect();
    assert!(asked.len() > 60, "{}", asked.len());
    let mut cargo = common::cargo(&folder, &["run", "--quiet", "--", "read"]);
    let mut child = cargo.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines: String = asked.iter().map(|(module, _, object)| format!("{module}\t{object}\n")).collect();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let read: Vec<&str> = std::str::from_utf8(&output.stdout).unwrap().lines().collect();
    assert_eq!(read.len(), asked.len());
    let taken: Vec<String> = asked
        .iter()
        .zip(read)
        .filter(|(_, error)| error.is_empty())
        .map(|((module, path, object), _)| format!("{module} {path}: {object}"))
        .collect();
    assert!(taken.is_empty(), "serde reads these:\n{}", taken.join("\n"));
}

#[test]
fn the_api_server_stores_what_is_reported_until_the_attribute_is_added() {
    let Some(control_plane) = ControlPlane::start("undecodable", 0) else { return };
    let mut wrong = Vec::new();
    for (name, (_, text)) in cases() {
        let before = check(&name, &text);
        let install = |checked: &Checked| {
            let crd = serde_json::to_string(&checked.crd).unwrap();
            control_plane.kubectl(&["apply", "--server-side", "--force-conflicts", "-f", "-"], &crd);
        };
        install(&before);
        for (path, object) in &before.objects {
            // As it was reported, so that nothing was dropped.
            let is_kept =
                |outcome: &Result<Value, String>| outcome.as_ref().is_ok_and(|stored| is_same(stored, object));
            let outcome = until(|| store(&control_plane, &before.crd, object), is_kept);
            if !is_kept(&outcome) {
                wrong.push(format!("{name}: {path}: reported {object}, and got {outcome:?}"));
            }
        }
        // An attribute twice does not compile.
        if name == "bounds_too_wide" {
            continue;
        }
        let after = check(&name, &fixed(&text, &before.diagnostics));
        install(&after);
        let is_left = |path: &String| after.objects.iter().any(|(left, _)| left == path);
        for (path, object) in before.objects.iter().filter(|(path, _)| !is_left(path)) {
            // A null is replaced by its default.
            let is_closed = |outcome: &Result<Value, String>| match outcome {
                Ok(stored) => !is_same(stored, object),
                Err(why) => why.contains("is invalid"),
            };
            let outcome = until(|| store(&control_plane, &after.crd, object), is_closed);
            if !is_closed(&outcome) {
                wrong.push(format!("{name}: {path}: with the attribute, still {outcome:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The API server takes a moment to serve a schema.
fn until<T>(attempt: impl Fn() -> T, is_expected: impl Fn(&T) -> bool) -> T {
    for _ in 0..25 {
        let outcome = attempt();
        if is_expected(&outcome) {
            return outcome;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    attempt()
}

/// Apart from metadata.
fn is_same(stored: &Value, object: &Value) -> bool {
    ["spec", "status"].iter().all(|part| stored.get(part) == object.get(part))
}

/// What the API server stores of the object, which is removed again.
fn store(control_plane: &ControlPlane, crd: &CustomResourceDefinition, object: &Value) -> Result<Value, String> {
    let plural = format!("{}.{}", crd.spec.names.plural, crd.spec.group);
    let output = |arguments: &[&str], stdin: &str| {
        let output = control_plane.run(arguments, stdin);
        match output.status.success() {
            true => Ok(serde_json::from_slice(&output.stdout).unwrap()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    };
    let mut stored = output(&["create", "--validate=false", "-o", "json", "-f", "-"], &object.to_string());
    let has_subresource = crd.spec.versions[0].subresources.as_ref().is_some_and(|it| it.status.is_some());
    if stored.is_ok() && has_subresource && object.get("status").is_some() {
        let patch = serde_json::json!({ "status": object["status"] }).to_string();
        let arguments = ["patch", &plural, "a", "--subresource=status", "--type=merge", "-o", "json", "-p", &patch];
        stored = output(&arguments, "");
    }
    control_plane.run(&["delete", &plural, "a", "--ignore-not-found"], "");
    stored
}
