//! Commands and flags of kubebuilder 4 and operator-sdk 1.42: each does the same in opctl, is accepted with a note, or
//! is rejected with an alternative. Also `opctl edit`, which both have.
//!
//! `tests/kubebuilder_syntax.txt` has a line for each, with the output of opctl.
//! `SNAPSHOTS=overwrite cargo test --test thorough kubebuilder_syntax` records it.
#![cfg(unix)]

use std::collections::BTreeMap;

use clap::Parser;
use clap::error::ErrorKind;
use opctl::commands::Cli;
use opctl::commands::kubebuilder_syntax::{self, Answer};
use snapbox::{Assert, Data};

use crate::sandbox::Sandbox;
use crate::tree::tree;

/// The exit code and stderr.
fn run(sandbox: &Sandbox, words: &[String]) -> (i32, String) {
    let output = sandbox.command("opctl").args(words).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Runs a command. Panics if it fails.
fn opctl(sandbox: &Sandbox, line: &str) {
    let (code, said) = run(sandbox, &words(line));
    assert_eq!(code, 0, "opctl {line}: {said}");
}

/// A project with two versions of a kind.
fn project() -> Sandbox {
    let mut sandbox = Sandbox::new();
    opctl(&sandbox, "init shop --domain example.com --api cache/v1/Memcached --api cache/v2/Memcached");
    sandbox.folder.push("shop");
    sandbox
}

/// The words of a line, with additional required arguments of its command.
fn whole(line: &str) -> Vec<String> {
    let mut words = words(line.strip_prefix("opctl ").unwrap());
    let is = |command: &str| line.starts_with(&format!("opctl {command}"));
    let needed: &[&str] = match () {
        () if is("init") => &["--domain=example.com", "--project-name=other", "--dry-run"],
        () if is("create api") => &["--group=ship", "--version=v1", "--kind=Fleet", "--dry-run"],
        () if is("create webhook") => &["--group=cache", "--version=v1", "--kind=Memcached", "--dry-run"],
        () if is("edit") => &["--dry-run"],
        () => &[],
    };
    let is_given = |flag: &str| words.iter().any(|word| word.split('=').next() == flag.split('=').next());
    let missing: Vec<String> = needed.iter().filter(|flag| !is_given(flag)).map(ToString::to_string).collect();
    words.extend(missing);
    if is("init") {
        words.push("../other".into());
    }
    if is("create webhook") && ["defaulting", "validation", "conversion"].iter().all(|kind| !line.contains(kind)) {
        words.push("--defaulting".into());
    }
    words
}

#[test]
fn every_argument_is_answered() {
    let sandbox = project();
    let text = std::fs::read_to_string("tests/kubebuilder_syntax.txt").unwrap();
    let mut answered = String::new();
    for line in text.lines().filter(|line| !line.starts_with(' ')) {
        answered.push_str(&format!("{line}\n"));
        if line.starts_with('#') {
            continue;
        }
        let (code, said) = run(&sandbox, &whole(line));
        let notes = said.lines().filter_map(|line| line.strip_prefix("note: `--"));
        let notes: Vec<&str> = notes.filter_map(|note| note.split_once("`: ")).map(|(_, note)| note).collect();
        let helps = said.lines().filter_map(|line| line.trim_start().strip_prefix("help: "));
        let (word, answers) = match code {
            0 if notes.is_empty() => ("the same", Vec::new()),
            0 => ("accepted: ", notes),
            _ => ("refused: ", helps.collect()),
        };
        assert!(code == 0 || !answers.is_empty(), "{line}: {said}");
        match answers.is_empty() {
            true => answered.push_str(&format!("  {word}\n")),
            false => answers.iter().for_each(|answer| answered.push_str(&format!("  {word}{answer}\n"))),
        }
    }
    Assert::new()
        .action_env("SNAPSHOTS")
        .eq(Data::text(answered), Data::read_from("tests/kubebuilder_syntax.txt".as_ref(), None).raw());
}

#[test]
fn every_row_of_the_table_is_tried() {
    let text = std::fs::read_to_string("tests/kubebuilder_syntax.txt").unwrap();
    for row in kubebuilder_syntax::all() {
        for path in row.paths() {
            let command = format!("opctl {}", path.join(" "));
            let is_tried = text.lines().any(|line| {
                line.starts_with(&command) && row.flag.is_none_or(|flag| line.contains(&format!(" --{flag}")))
            });
            assert!(is_tried, "`{command}` {:?}", row.flag);
        }
    }
}

#[test]
fn the_commands_in_the_answers_exist() {
    let mut commands = 0;
    for row in kubebuilder_syntax::all() {
        let (Answer::Accepted(text) | Answer::Refused(text)) = row.answer;
        for command in text.split('`').skip(1).step_by(2).filter(|code| code.starts_with("opctl ")) {
            if let Err(error) = Cli::try_parse_from(command.split(' ')) {
                assert_eq!(error.kind(), ErrorKind::DisplayHelp, "`{command}`: {error}");
            }
            commands += 1;
        }
    }
    assert!(commands > 40, "{commands}");
}

type Files = BTreeMap<String, Vec<u8>>;

/// The paths whose texts differ or exist in only one of the trees.
fn differences<'a>(a: &'a Files, b: &'a Files) -> Vec<&'a str> {
    let paths = a.keys().chain(b.keys()).map(String::as_str);
    let mut differ: Vec<&str> = paths.filter(|path| a.get(*path) != b.get(*path)).collect();
    differ.sort_unstable();
    differ.dedup();
    differ
}

const TOGGLES: [(&str, &str); 7] = [
    ("--namespaced", "--namespaced=false"),
    ("--watch-namespace=team-b,team-a", "--namespaced=false"),
    ("--cert-manager", "--cert-manager=false"),
    ("--leader-election", "--leader-election=false"),
    ("--network-policy", "--network-policy=false"),
    ("--prometheus", "--prometheus=false"),
    ("--grafana", "--grafana=false"),
];

#[test]
fn on_then_off_gives_the_same_tree() {
    let sandbox = project();
    opctl(&sandbox, "create webhook --group cache --version v1 --kind Memcached --defaulting --validation");
    let toggle = || {
        let before = tree(&sandbox.folder);
        for (on, off) in TOGGLES {
            opctl(&sandbox, &format!("edit {on}"));
            let changed = tree(&sandbox.folder);
            assert_ne!(differences(&before, &changed), [""; 0], "{on}");
            opctl(&sandbox, &format!("edit {on}"));
            assert_eq!(differences(&changed, &tree(&sandbox.folder)), [""; 0], "{on} twice");
            opctl(&sandbox, "manifests --check");
            opctl(&sandbox, &format!("edit {off}"));
            assert_eq!(differences(&before, &tree(&sandbox.folder)), [""; 0], "{on}, {off}");
        }
        // All settings, disabled in another order.
        TOGGLES.iter().for_each(|(on, _)| opctl(&sandbox, &format!("edit {on}")));
        TOGGLES.iter().for_each(|(_, off)| opctl(&sandbox, &format!("edit {off}")));
        assert_eq!(differences(&before, &tree(&sandbox.folder)), [""; 0]);
    };
    toggle();
    // Again, with files that the user has edited.
    for path in ["config/manager/manager.yaml", "src/webhook/cache/v1/memcached/defaulting.rs", "src/webhook/mod.rs"] {
        let file = sandbox.folder.join(path);
        let text = std::fs::read_to_string(&file).unwrap();
        let comment = if path.ends_with(".rs") { "// mine" } else { "# mine" };
        let edited = text.replace("value: info", "value: debug");
        std::fs::write(&file, format!("{comment}\n{edited}{comment}\n")).unwrap();
    }
    toggle();
}

#[test]
fn edit_makes_what_init_makes() {
    for (option, _) in &TOGGLES[..2] {
        let [edited, made] = [Sandbox::new(), Sandbox::new()];
        opctl(&edited, "init --domain example.com --project-name shop --api cache/v1/Memcached");
        opctl(&edited, &format!("edit {option}"));
        opctl(&made, &format!("init --domain example.com --project-name shop --api cache/v1/Memcached {option}"));
        let (edited, made) = (tree(&edited.folder), tree(&made.folder));
        assert_eq!(differences(&edited, &made), [""; 0], "{option}");
    }
    let [edited, made] = [project(), project()];
    let webhook = "create webhook --group cache --version v1 --kind Memcached --defaulting";
    opctl(&edited, webhook);
    opctl(&edited, "edit --cert-manager");
    opctl(&made, &format!("{webhook} --cert-manager"));
    assert_eq!(differences(&tree(&edited.folder), &tree(&made.folder)), [""; 0]);
}

#[test]
fn edit_refuses_where_the_place_is_unclear_and_writes_nothing() {
    let sandbox = project();
    let manager = sandbox.folder.join("config/manager/manager.yaml");
    opctl(&sandbox, "edit --namespaced");
    let text = std::fs::read_to_string(&manager).unwrap();
    std::fs::write(&manager, text.replace("fieldPath: metadata.namespace", "fieldPath: metadata.name")).unwrap();
    let before = tree(&sandbox.folder);
    let (code, said) = run(&sandbox, &words("edit --namespaced=false"));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("remove these lines") && said.contains("- name: WATCH_NAMESPACE"), "{said}");
    assert_eq!(differences(&before, &tree(&sandbox.folder)), [""; 0]);
    // If one file was edited to the new setting, the others follow; also if PROJECT was edited.
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.contains("WATCH_NAMESPACE")).unwrap();
    std::fs::write(&manager, [&lines[..at], &lines[at + 4..]].concat().join("\n") + "\n").unwrap();
    opctl(&sandbox, "edit --namespaced=false");
    opctl(&sandbox, "manifests --check");
    let file = sandbox.folder.join("PROJECT");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("projectName", "namespaced: true\nprojectName")).unwrap();
    opctl(&sandbox, "edit --namespaced");
    assert!(std::fs::read_to_string(&manager).unwrap().contains("WATCH_NAMESPACE"));
}

#[test]
fn edit_keeps_other_settings_in_project() {
    let sandbox = project();
    let file = sandbox.folder.join("PROJECT");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("projectName", "manifests:\n  maxDescription: 200\nprojectName")).unwrap();
    opctl(&sandbox, "manifests");
    let before = tree(&sandbox.folder);
    opctl(&sandbox, "edit --watch-namespace team-a");
    opctl(&sandbox, "manifests --check");
    opctl(&sandbox, "edit --watch-namespace team-b,team-c");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("manifests:\n  namespaces:\n  - team-b\n  - team-c\n  maxDescription: 200\n"), "{text}");
    opctl(&sandbox, "edit --namespaced=false");
    assert_eq!(differences(&before, &tree(&sandbox.folder)), [""; 0]);
}
