//! Projects that earlier opctls made, updated by this one. `.ci/replay` builds those opctls.
//!
//! Each golden project is made twice, by the commands that its recipe had then: by the earlier opctl, and by this one. Updated, the first
//! is equal to the second, byte for byte. With random edits, no line of the user is lost.

// The modules shared with other test binaries have more than is needed here.
#![allow(dead_code)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../compiler/random/kinds/dice.rs"]
mod dice;
#[path = "../common/edits.rs"]
mod edits;
#[path = "../common/golden.rs"]
mod golden;
#[path = "../common/helm.rs"]
mod helm;
#[path = "../common/record.rs"]
mod record;
#[path = "../common/sandbox.rs"]
mod sandbox;
#[path = "../common/skipped.rs"]
mod skipped;
#[path = "../common/tree.rs"]
mod tree;
#[path = "../common/workdir.rs"]
mod workdir;

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};

use opctl_edit::plan::Record;

use crate::dice::Dice;
use crate::edits::{Files, edit, files, restore};
use crate::golden::{Golden, has_what_it_needs, names_in};
use crate::sandbox::Sandbox;
use crate::workdir::{cargo_lock, lock_cargo, sync};

/// The folders of earlier opctls, each with the recipes of its time.
fn earlier() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/replay");
    let entries = fs::read_dir(&folder).map(|entries| entries.map(|entry| entry.unwrap().path()).collect());
    let mut folders: Vec<PathBuf> = entries.unwrap_or_default();
    folders.retain(|folder| folder.join("golden").is_dir());
    folders.sort();
    assert!(!folders.is_empty(), "there is no earlier opctl in `{}`; `.ci/replay` builds them", folder.display());
    folders
}

/// The commands of each recipe that this machine can play, by its name.
fn recipes(folder: &Path) -> Vec<Golden> {
    let folder = folder.join("golden");
    let read = |name: String| {
        let text = fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap();
        has_what_it_needs(&name, &text).then(|| Golden::parse(&name, &text))
    };
    names_in(&folder).into_iter().filter_map(read).collect()
}

fn differing(left: &Files, right: &Files) -> Vec<String> {
    let paths = left.keys().chain(right.keys().filter(|path| !left.contains_key(*path)));
    paths.filter(|path| left.get(*path) != right.get(*path)).cloned().collect()
}

/// The output of a shell command if it fails.
fn run(sandbox: &Sandbox, line: &str) -> Result<(), String> {
    let output = sandbox.command("sh").args(["-c", line]).output().unwrap();
    output.status.success().then_some(()).ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A project as an earlier opctl made it, in a sandbox that has this one.
fn made_earlier(folder: &Path, recipe: &Golden) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.programs = folder.to_owned();
    let mut made = recipe.make_in(sandbox, |_, _| {});
    made.programs = Sandbox::new().programs;
    made
}

#[test]
fn projects_of_earlier_opctls_are_updated() {
    let seed: u64 = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    eprintln!("seed {seed}");
    let (mut dice, mut failures) = (Dice::new(seed), Vec::new());
    let (mut updated, mut others, mut conflicts) = (0, Vec::new(), 0);
    for folder in earlier() {
        for recipe in recipes(&folder) {
            let name = format!("`{}` of {}", recipe.name, folder.file_name().unwrap().display());
            let project = made_earlier(&folder, &recipe);
            let before = files(&project);
            if !before.contains_key(".opctl/scaffold.txt") {
                adopt(&project, &before).unwrap_or_else(|error| failures.push(format!("{name}, adopted: {error}")));
                continue;
            }
            match update(&project, &files(&recipe.make(|_, _| {}))) {
                Ok(true) => updated += 1,
                Ok(false) => others.push(name.clone()),
                Err(error) => failures.push(format!("{name}, updated: {error}")),
            }
            restore(&project, &before);
            match update_edited(&project, &before, &mut dice) {
                Ok(has_conflicts) => conflicts += usize::from(has_conflicts),
                Err(error) => failures.push(format!("{name}, edited and updated: {error}")),
            }
        }
    }
    eprintln!("{updated} projects are as they are made today; {conflicts} had conflicts after random edits");
    eprintln!("the commands of these mean something else today: {}", others.join(", "));
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// A project without a record gets one, and keeps its files.
fn adopt(project: &Sandbox, before: &Files) -> Result<(), String> {
    run(project, "opctl update --adopt && opctl update && opctl update --check")?;
    let is_own = |path: &String| !path.starts_with(".opctl/") && !path.starts_with("runtime/");
    match differing(before, &files(project)).into_iter().find(is_own) {
        Some(path) => Err(format!("`{path}` is another one")),
        None => Ok(()),
    }
}

/// `true` if its commands still mean the same, by PROJECT. Then it is as they make it today.
fn update(project: &Sandbox, today: &Files) -> Result<bool, String> {
    run(project, "opctl update && opctl manifests && opctl update --check && opctl manifests --check")?;
    let updated = files(project);
    if updated["PROJECT"] != today["PROJECT"] {
        return Ok(false);
    }
    // A file that did not change keeps the revision that it was written with.
    match differing(&updated, today).into_iter().find(|path| path != ".opctl/scaffold.txt") {
        Some(path) => {
            let text = |files: &Files| files.get(&path).map(|text| String::from_utf8_lossy(text).into_owned());
            let (updated, today) = (text(&updated).unwrap_or_default(), text(today).unwrap_or_default());
            let diff = similar::TextDiff::from_lines(&updated, &today).unified_diff().to_string();
            Err(format!("`{path}` is not as it is made today:\n{diff}"))
        }
        None => Ok(true),
    }
}

/// `true` if there are conflicts. Each line that the user added is there once, also then.
fn update_edited(project: &Sandbox, before: &Files, dice: &mut Dice) -> Result<bool, String> {
    let mut own = Vec::new();
    for path in recorded(before) {
        if dice.percent(50) {
            continue;
        }
        let file = project.folder.join(&path);
        let mut lines = Vec::new();
        fs::write(&file, edit(&fs::read_to_string(&file).unwrap(), &path, &mut lines, dice)).unwrap();
        own.push((path, lines));
    }
    let output = project.command("opctl").args(["update", "--conflicts", "markers"]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(printed);
    }
    let after = files(project);
    for (path, lines) in own {
        let text = after.get(&path).map(|text| String::from_utf8_lossy(text)).unwrap_or_default();
        if let Some(line) = lines.iter().find(|line| text.lines().filter(|other| other == line).count() != 1) {
            return Err(format!("`{path}` lacks `{line}`\n{printed}"));
        }
    }
    Ok(output.status.code() == Some(1))
}

/// The files of which the record has a text. The licence and Cargo.toml are answers from which others are rendered.
fn recorded(files: &Files) -> impl Iterator<Item = String> {
    let read = |path: &str| {
        let text = files.get(path).map(|text| String::from_utf8(text.clone()).unwrap());
        Ok::<_, Infallible>(text)
    };
    let record = Record::read(read).unwrap().unwrap_or_default();
    let is_edited = |path: &&str| {
        !["LICENSE", "hack/boilerplate.txt", "Cargo.toml"].contains(path)
            && files.get(*path).is_some_and(|text| !text.is_empty())
    };
    let recorded: Vec<String> = record.files.into_keys().filter(|path| is_edited(&path.as_str())).collect();
    recorded.into_iter()
}

/// One project of each earlier opctl, with comments of the user in all its sources.
#[test]
fn merges_without_conflicts_compile() {
    let target = common::operators_target();
    let names = ["memcached", "wired", "finalizers", "images", "minimal", "core"];
    let mut dice = Dice::new(1);
    for (folder, name) in earlier().iter().zip(names.iter().cycle()) {
        let recipe = recipes(folder).into_iter().find(|recipe| recipe.name == *name).unwrap();
        let project = made_earlier(folder, &recipe);
        let before = files(&project);
        for path in recorded(&before).filter(|path| path.ends_with(".rs")) {
            let file = project.folder.join(path);
            let mut lines: Vec<String> = fs::read_to_string(&file).unwrap().lines().map(str::to_owned).collect();
            lines.insert(dice.below(lines.len()), "// mine".into());
            fs::write(&file, lines.join("\n") + "\n").unwrap();
        }
        let adopt = if before.contains_key(".opctl/scaffold.txt") { "" } else { "opctl update --adopt && " };
        run(&project, &format!("{adopt}opctl update && opctl manifests")).unwrap();
        let mut files = tree::tree(&project.folder);
        let package = fs::read_to_string(project.folder.join("Cargo.toml")).unwrap();
        let package = package.lines().find_map(|line| line.strip_prefix("name = ")).unwrap().trim_matches('"');
        files.insert("Cargo.lock".into(), cargo_lock(package, false).into());
        let merged = target.join("replay");
        sync(&merged, &files);
        let _cargo = lock_cargo();
        common::output(common::cargo(&merged, &["check", "--locked", "--all-targets"]));
        eprintln!("`{name}` of {} compiles", folder.file_name().unwrap().display());
    }
}
