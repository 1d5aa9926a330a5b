//! Properties of the files of every golden project (see `tests/common/golden.rs`); `tests/operators` compiles and runs
//! them.
//!
//! Each golden project is one file. `SNAPSHOTS=overwrite cargo test --test quick golden` writes its list of files.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use opctl_kustomize::Renderer;
use opctl_kustomize::config;
use opctl_model::diagnostic;
use opctl_model::project::{Tree, join};
use opctl_source as source;

use crate::account;
use crate::cores::on_all_cores;
use crate::golden::{self, Golden};
use crate::golden_copies::third;
use crate::olm;
use crate::sandbox::{Sandbox, shell};
use crate::tree::tree;
use crate::write::write;

/// A golden project after its commands. No test changes its files.
struct Scaffolded {
    golden: Golden,
    sandbox: Sandbox,
    /// Lines that a command removed from a file of the user, which is not allowed.
    removed: Vec<String>,
}

/// All golden projects, created once for concurrent tests.
fn all() -> Arc<Vec<Scaffolded>> {
    static ALL: Mutex<Weak<Vec<Scaffolded>>> = Mutex::new(Weak::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.upgrade().unwrap_or_else(|| {
        let scaffolded = Arc::new(make_all());
        *all = Arc::downgrade(&scaffolded);
        scaffolded
    })
}

fn make_all() -> Vec<Scaffolded> {
    let mut names = golden::names();
    names.retain(|name| golden::can_be_made(name));
    assert!(names.len() > 5, "the golden projects are not found");
    on_all_cores(&names, |name| make(Golden::read(name)))
}

fn make(golden: Golden) -> Scaffolded {
    let mut before = BTreeMap::<String, Vec<u8>>::new();
    let mut removed = Vec::new();
    let sandbox = golden.make(|command, sandbox| {
        let after = tree(&sandbox.root());
        if command.starts_with("opctl ") {
            for (path, text) in &before {
                let Some(new) = after.get(path) else { panic!("{command}: `{path}` is gone") };
                let lines = lines_without(text, new).into_iter();
                removed.extend(lines.map(|line| format!("{}: {command}: gone from `{path}`: {line}", golden.name)));
            }
        }
        before = after;
    });
    Scaffolded { golden, sandbox, removed }
}

#[test]
fn the_files_are_those_that_are_listed() {
    let overwrite = std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite");
    let all = all();
    let minimal = files(&all.iter().find(|scaffolded| scaffolded.golden.name == "minimal").unwrap().sandbox);
    for Scaffolded { golden, sandbox, .. } in all.iter() {
        let files = files(sandbox);
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

#[test]
fn as_many_kinds_are_derived_as_a_search_finds() {
    for Scaffolded { golden, sandbox, .. } in all().iter() {
        let source = source::read(&Tree::at(&sandbox.folder), "");
        account::holds(&golden.name, account::searched(&sandbox.folder.join("src")), &source);
    }
}

/// The paths relative to the project. The vendored runtime is a single path, since `tests/compiler/package.rs` covers
/// its files.
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
    for Scaffolded { golden, sandbox, .. } in third(0, all().iter()) {
        let once = stamped(sandbox);
        golden.commands[creations(golden)..].iter().for_each(|command| shell(sandbox, command));
        for command in ["opctl manifests", "opctl manifests --check"] {
            shell(sandbox, command);
        }
        let twice = stamped(sandbox);
        assert_eq!(once.keys().collect::<Vec<_>>(), twice.keys().collect::<Vec<_>>());
        for (path, file) in &once {
            assert!(twice[path] == *file, "{}: `{path}` was written again", golden.name);
        }
    }
}

#[test]
fn each_is_granted_what_its_code_asks_for_and_no_more() {
    for Scaffolded { sandbox, .. } in all().iter() {
        shell(sandbox, "opctl check --deny-warnings");
    }
}

#[test]
fn the_bundle_of_each_renders_to_the_project() {
    let mut count = 0;
    for Scaffolded { golden, sandbox, .. } in all().iter() {
        if sandbox.folder.join("config/default").is_dir() {
            olm::round_trips(&golden.name, &Tree::at(&sandbox.folder));
            count += 1;
        }
    }
    assert!(count > 10, "{count}");
}

/// Every file with its modification time.
fn stamped(sandbox: &Sandbox) -> BTreeMap<String, (SystemTime, Vec<u8>)> {
    let root = sandbox.root();
    let stamp = |path: &str| fs::metadata(root.join(path)).unwrap().modified().unwrap();
    tree(&root).into_iter().map(|(path, text)| (path.clone(), (stamp(&path), text))).collect()
}

/// The index of the first command after which all only add resources, so they can be repeated and reordered.
fn creations(golden: &Golden) -> usize {
    golden.commands.iter().rposition(|command| !command.starts_with("opctl create ")).unwrap() + 1
}

#[test]
fn golden_projects_are_clean() {
    is_clean(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples"), "memcached");
    for Scaffolded { sandbox, .. } in all().iter() {
        let root = sandbox.root();
        is_clean(&root, sandbox.folder.strip_prefix(&root).unwrap().to_str().unwrap());
    }
}

/// Asserts that the manifests of a project, in a folder below its workspace's root, have no findings.
fn is_clean(root: &Path, folder: &str) {
    let tree = Tree::at(root);
    let default = Renderer::new(&tree).render(&join(folder, "config/default"), &[]);
    assert!(default.is_closed && default.objects.len() > 5, "{folder} is not judged");
    let found = config::check(&tree, folder);
    assert!(found.is_empty(), "{folder}: {}", diagnostic::render(&found, false));
}

#[test]
fn the_order_of_creations_does_not_matter() {
    // In these projects, a command refers to a kind that a previous one created.
    let is_free = |golden: &Golden| !["external", "wired"].contains(&golden.name.as_str());
    for Scaffolded { sandbox, golden, .. } in third(1, all().iter().filter(|scaffolded| is_free(&scaffolded.golden))) {
        let forward = tree(&sandbox.root());
        let mut golden = Golden::read(&golden.name);
        let first = creations(&golden);
        reverse(&mut golden.commands[first..]);
        let backward = tree(&golden.make(|_, _| ()).root());
        assert_eq!(forward.keys().collect::<Vec<_>>(), backward.keys().collect::<Vec<_>>());
        for (path, text) in &forward {
            assert!(backward[path] == *text, "{}: `{path}` depends on the order", golden.name);
        }
    }
}

/// Reverses the commands, except for those of one kind: another version is a copy of a previous one.
fn reverse(commands: &mut [String]) {
    let kind = |command: &String| -> Vec<String> {
        let words: Vec<&str> = command.split(' ').collect();
        let names = words.windows(2).filter(|pair| ["--group", "--kind"].contains(&pair[0]));
        names.map(|pair| pair[1].to_owned()).collect()
    };
    let mut forward = commands.to_vec();
    commands.reverse();
    for command in commands {
        let next = forward.iter().position(|other| kind(other) == kind(command)).unwrap();
        *command = forward.remove(next);
    }
}

#[test]
fn to_files_of_the_user_lines_are_only_added() {
    let all = all();
    let removed: Vec<&String> = all.iter().flat_map(|scaffolded| &scaffolded.removed).collect();
    assert_eq!(removed, Vec::<&String>::new());
}

/// Lines of the old text that the new text lacks, in order. None for generated files and for lists that were empty.
fn lines_without<'a>(old: &'a [u8], new: &[u8]) -> Vec<&'a str> {
    let (old, new) = (std::str::from_utf8(old).unwrap(), std::str::from_utf8(new).unwrap());
    if old.starts_with(opctl_source::emit::HEADER) {
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

/// The worked examples are scaffolds with user code. Files that the user does not own must equal the current scaffold.
/// `SNAPSHOTS=overwrite` updates them.
#[test]
fn the_examples_have_not_drifted_from_the_scaffold() {
    let overwrite = std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for example in fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path()) {
        let name = example.file_name().unwrap().to_str().unwrap();
        let recipe = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/examples").join(format!("{name}.txt"));
        let recipe = fs::read_to_string(&recipe).unwrap_or_else(|error| panic!("{}: {error}", recipe.display()));
        let (head, its_own) = recipe.split_once("\n\n").unwrap();
        if !golden::has_what_it_needs(&format!("the example `{name}`"), head) {
            continue;
        }
        let its_own: BTreeSet<&str> = its_own.lines().collect();
        let sandbox = beside_the_runtime(name);
        golden::commands(head).iter().for_each(|command| shell(&sandbox, command));
        let without_its_own = |mut files: BTreeMap<String, Vec<u8>>| {
            files.retain(|path, _| !its_own.contains(path.as_str()) && !path.starts_with("target/"));
            files
        };
        let fresh = without_its_own(tree(&sandbox.folder));
        if overwrite {
            for (path, text) in &fresh {
                write(&example.join(path), std::str::from_utf8(text).unwrap());
            }
        }
        let example = without_its_own(tree(&example));
        assert_eq!(fresh.keys().collect::<Vec<_>>(), example.keys().collect::<Vec<_>>(), "{name}");
        for (path, text) in &fresh {
            assert!(*text == example[path], "examples/{name}: `{path}` is not as opctl writes it now");
        }
    }
}

/// A sandbox in `examples/NAME`, so that the runtime has the same relative path as in this repository.
fn beside_the_runtime(name: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.folder = sandbox.root().join("examples").join(name);
    fs::create_dir_all(&sandbox.folder).unwrap();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    std::os::unix::fs::symlink(crates, sandbox.root().join("crates")).unwrap();
    sandbox
}

/// The scaffold depends only on the answers in PROJECT and in the record.
#[test]
fn today_s_scaffold_of_each_is_the_recorded_one() {
    for Scaffolded { golden, sandbox, .. } in all().iter() {
        let output = sandbox.command("opctl").args(["update", "--check"]).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{}: {}", golden.name, String::from_utf8_lossy(&text));
    }
}
