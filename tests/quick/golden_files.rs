//! What holds of every golden project (see `tests/common/golden.rs`) as files; `operators.rs` compiles and runs them.
//!
//! A new one is one file. `SNAPSHOTS=overwrite cargo test --test golden` writes its list of files.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::golden::{self, Golden, shell};
use crate::sandbox::Sandbox;
use crate::tree::tree;

fn all() -> Vec<Golden> {
    let all: Vec<Golden> = golden::names().iter().map(|name| Golden::read(name)).collect();
    assert!(all.len() > 5, "the golden projects are not found");
    all
}

#[test]
fn the_files_are_those_that_are_listed() {
    let overwrite = std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite");
    let minimal = files(&Golden::read("minimal").make(|_, _| ()));
    for golden in all() {
        let sandbox = golden.make(|_, _| ());
        let files = files(&sandbox);
        let lacks = minimal.difference(&files).map(|path| format!("- {path}\n"));
        let has = files.iter().filter(|path| golden.name == "minimal" || !minimal.contains(*path));
        let listing: String = lacks.chain(has.map(|path| format!("{path}\n"))).collect();
        let path = golden::path(&golden.name);
        let text = fs::read_to_string(&path).unwrap();
        let (head, listed) = text.split_once("\n\n").unwrap_or((text.trim_end(), ""));
        if overwrite {
            fs::write(&path, format!("{head}\n\n{listing}")).unwrap();
        } else {
            snapbox::assert_data_eq!(listing, snapbox::Data::text(listed.to_owned()).raw());
        }
    }
}

/// The paths, as seen from the project; the vendored runtime is one, for `tests/package.rs` looks at its files.
fn files(sandbox: &Sandbox) -> BTreeSet<String> {
    let root = sandbox.root();
    let inner = sandbox.folder.strip_prefix(&root).unwrap();
    let up = "../".repeat(inner.iter().count());
    let seen = |path: &String| match Path::new(path).strip_prefix(inner) {
        Ok(path) => path.to_str().unwrap().to_owned(),
        Err(_) => format!("{up}{path}"),
    };
    let seen = |path: &String| match path.split_once('/') {
        Some(("runtime", _)) => format!("{up}runtime/"),
        _ => seen(path),
    };
    tree(&root).keys().map(seen).collect()
}

#[test]
fn the_second_time_changes_nothing() {
    for golden in all() {
        let sandbox = golden.make(|_, _| ());
        let once = stamped(&sandbox);
        golden.commands[creations(&golden)..].iter().for_each(|command| shell(&sandbox, command));
        for command in ["opctl manifests", "opctl manifests --check"] {
            shell(&sandbox, command);
        }
        let twice = stamped(&sandbox);
        assert_eq!(once.keys().collect::<Vec<_>>(), twice.keys().collect::<Vec<_>>());
        for (path, file) in &once {
            assert!(twice[path] == *file, "{}: `{path}` was written again", golden.name);
        }
    }
}

#[test]
fn each_is_granted_what_its_code_asks_for_and_no_more() {
    for golden in all() {
        shell(&golden.make(|_, _| ()), "opctl check --deny-warnings");
    }
}

/// Every file, with the time of its last change.
fn stamped(sandbox: &Sandbox) -> BTreeMap<String, (SystemTime, Vec<u8>)> {
    let root = sandbox.root();
    let stamp = |path: &str| fs::metadata(root.join(path)).unwrap().modified().unwrap();
    tree(&root).into_iter().map(|(path, text)| (path.clone(), (stamp(&path), text))).collect()
}

/// From which command on only resources are added: these can be made again, and in any order.
fn creations(golden: &Golden) -> usize {
    golden.commands.iter().rposition(|command| !command.starts_with("opctl create ")).unwrap() + 1
}

#[test]
fn the_order_of_creations_does_not_matter() {
    // There a command names a kind that one before it made.
    let is_free = |golden: &Golden| !["external", "wired"].contains(&golden.name.as_str());
    for mut golden in all().into_iter().filter(is_free) {
        let forward = tree(&golden.make(|_, _| ()).root());
        let first = creations(&golden);
        golden.commands[first..].reverse();
        let backward = tree(&golden.make(|_, _| ()).root());
        assert_eq!(forward.keys().collect::<Vec<_>>(), backward.keys().collect::<Vec<_>>());
        for (path, text) in &forward {
            assert!(backward[path] == *text, "{}: `{path}` depends on the order", golden.name);
        }
    }
}

#[test]
fn to_files_of_the_user_lines_are_only_added() {
    for golden in all() {
        let mut before = BTreeMap::<String, Vec<u8>>::new();
        golden.make(|command, sandbox| {
            let after = tree(&sandbox.root());
            if command.starts_with("opctl ") {
                for (path, text) in &before {
                    let Some(new) = after.get(path) else { panic!("{command}: `{path}` is gone") };
                    let gone = lines_without(text, new);
                    assert_eq!(gone, Vec::<&str>::new(), "{}: {command}: gone from `{path}`", golden.name);
                }
            }
            before = after;
        });
    }
}

/// The lines of the old text that the new one has not, in their order. Generated files have none, nor have lists that
/// were empty.
fn lines_without<'a>(old: &'a [u8], new: &[u8]) -> Vec<&'a str> {
    let (old, new) = (std::str::from_utf8(old).unwrap(), std::str::from_utf8(new).unwrap());
    if old.starts_with(opctl::emit::HEADER) {
        return Vec::new();
    }
    let new: Vec<&str> = new.lines().collect();
    let mut rest = &new[..];
    let mut missing = Vec::new();
    for line in old.lines().filter(|line| !line.ends_with(": []")) {
        match rest.iter().position(|other| *other == line) {
            Some(index) => rest = &rest[index + 1..],
            None => missing.push(line),
        }
    }
    missing
}

/// The worked examples are scaffolds that were filled in: what they do not own is as opctl writes it today.
#[test]
fn the_examples_have_not_drifted_from_the_scaffold() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for example in fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path()) {
        let name = example.file_name().unwrap().to_str().unwrap();
        let recipe = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/examples").join(format!("{name}.txt"));
        let recipe = fs::read_to_string(&recipe).unwrap_or_else(|error| panic!("{}: {error}", recipe.display()));
        let (head, its_own) = recipe.split_once("\n\n").unwrap();
        let its_own: BTreeSet<&str> = its_own.lines().collect();
        let sandbox = beside_the_runtime(name);
        golden::commands(head).iter().for_each(|command| shell(&sandbox, command));
        let without_its_own = |mut files: BTreeMap<String, Vec<u8>>| {
            files.retain(|path, _| !its_own.contains(path.as_str()) && !path.starts_with("target/"));
            files
        };
        let (fresh, example) = (without_its_own(tree(&sandbox.folder)), without_its_own(tree(&example)));
        assert_eq!(fresh.keys().collect::<Vec<_>>(), example.keys().collect::<Vec<_>>(), "{name}");
        for (path, text) in &fresh {
            assert!(*text == example[path], "examples/{name}: `{path}` is not as opctl writes it now");
        }
    }
}

/// A sandbox in `examples/NAME`, from which the runtime is at the same path as in this repository.
fn beside_the_runtime(name: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.folder = sandbox.root().join("examples").join(name);
    fs::create_dir_all(&sandbox.folder).unwrap();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    std::os::unix::fs::symlink(crates, sandbox.root().join("crates")).unwrap();
    sandbox
}
