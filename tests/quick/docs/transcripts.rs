//! Command output on pages equals the output of opctl: in Getting started, and in the worked examples for the creation
//! of projects and the check of the finished operator.

use std::collections::BTreeSet;
use std::path::Path;

use super::{ROOT, files, read};
use crate::guide;
use crate::helm::has_helm;
use crate::sandbox::Sandbox;

#[test]
fn getting_started_shows_what_opctl_prints() {
    let page = read("docs/getting-started.md");
    let shown = transcripts(&page);
    guide::getting_started(&page, |terminal, command| {
        let (_, shown) = shown.iter().find(|(shown, _)| *shown == command).unwrap_or_else(|| panic!("`{command}`"));
        assert_prints(terminal, command, shown);
    });
}

#[test]
fn worked_examples_show_what_opctl_prints() {
    let mut count = 0;
    for path in files("docs/examples") {
        let page = read(&path);
        let mut terminal = Sandbox::new();
        let mut finished = Sandbox::new();
        finished.folder = Path::new(ROOT).join("examples").join(Path::new(&path).file_stem().unwrap());
        let mut added = BTreeSet::new();
        for (command, shown) in transcripts(&page) {
            let words: Vec<&str> = command.split(' ').collect();
            match words[..] {
                ["cd", folder] => terminal.folder.push(folder),
                ["cargo", "add", krate, ..] => {
                    added.insert(krate.split('@').next().unwrap().to_owned());
                }
                _ if command.contains("--helm-chart") && !has_helm(command) => continue,
                ["opctl", "init" | "create", ..] => assert_prints(&terminal, command, shown),
                // Only the last line of this check is compared: the finished operator no longer has the earlier
                // findings.
                ["opctl", "check", ..] if shown.contains(", granted by ") => assert_prints(&finished, command, shown),
                _ => continue,
            }
            count += 1;
        }
        if terminal.folder.join("Cargo.toml").exists() {
            let known: BTreeSet<String> = &dependencies(&terminal.folder) | &added;
            let missing: Vec<_> = dependencies(&finished.folder).difference(&known).cloned().collect();
            assert!(missing.is_empty(), "{path} does not add {missing:?}");
        }
    }
    assert!(count > 8, "only {count} commands were played");
}

/// The names under `[dependencies]` in Cargo.toml.
fn dependencies(folder: &Path) -> BTreeSet<String> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let (_, rest) = manifest.split_once("[dependencies]\n").unwrap();
    let lines = rest.lines().take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| Some(line.split_once(" = ")?.0.to_owned())).collect()
}

/// The commands in `console` blocks, each with its output.
fn transcripts(page: &str) -> Vec<(&str, &str)> {
    let blocks = page.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let commands = blocks.flat_map(|block| block.strip_prefix("$ ").unwrap_or(block).split("\n$ "));
    commands.map(|text| text.trim_end().split_once('\n').unwrap_or((text.trim_end(), ""))).collect()
}

/// A page may omit the beginning of the output, or all of it.
fn assert_prints(terminal: &Sandbox, command: &str, shown: &str) {
    let output = terminal.command("sh").args(["-c", &format!("exec 2>&1\n{command}")]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    match shown.strip_prefix("…\n") {
        Some(end) => assert!(printed.trim_end().ends_with(end), "`{command}` ends otherwise:\n{printed}"),
        None if shown.is_empty() => {}
        None => assert_eq!(printed.trim_end(), shown, "{command}"),
    }
}
