//! Follows the guides: every command line of every page runs in order, in an empty folder, with a real API server. The
//! lines are extracted from the pages; `guides.txt` only has prerequisites, and lines that cannot run here, with
//! reasons.
#![cfg(unix)]

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::scope;

use walkdir::WalkDir;

use crate::control_plane::ControlPlane;
use crate::helm::has_helm;
use crate::sandbox::Sandbox;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Programs that need a network, a container engine or minutes. They are replaced by a script that succeeds without
/// doing anything. krew is a plugin of kubectl.
const STAND_INS: [&str; 6] = ["cargo", "cosign", "curl", "docker", "kubectl-krew", "kopium"];

/// The script. It compiles nothing for `cargo`, and reports a working image builder.
const STAND_IN: &str = r#"#!/bin/sh
case "${0##*/} $1 $2" in
"cargo run --") shift 2; exec opctl "$@" ;;
"cargo add --path") sed -i "s|^\[dependencies\]|&\n${3##*/} = { path = \"$3\" }|" Cargo.toml ;;
"cargo generate-lockfile "*) touch Cargo.lock ;;
"cargo "*) echo "$*" ;;
"kopium "*) exec "$KOPIUM/kopium" "$@" ;;
"docker build -f") cat >/dev/null; echo built ;;
"docker "*) echo "$*" ;;
esac
"#;

/// Functions for the lines of `guides.txt`.
const FUNCTIONS: &str = r#"set -e
TYPE=src/api/cache/v1alpha1/memcached.rs
CONTROLLER=src/controller/cache/memcached.rs
memcached() { opctl -q init memcached-operator --domain example.com --api cache/v1alpha1/Memcached && cd memcached-operator; }
shop() { opctl -q init shop --domain example.com --api depot/v1/Shelf && cd shop; }
website() { opctl -q init website-operator --domain example.com --api web/v1alpha1/Website && cd website-operator; }
# The files of the tutorial as they are after a page; `released` is the end of the fourth one.
tutorial() { cp -r "$TUTORIAL/$1/." . && opctl -q manifests; }
released() { website && tutorial first && commit && git tag v0.1.0; }
commit() { git init -qb main && git add -A && git commit -qm all; }
# A field of the spec, as in Getting started, and its value in the sample.
size() { sed -i '/^pub struct MemcachedSpec/a\    #[schemars(range(min = 1, max = 5))]\n    pub size: i32,' $TYPE && sed -i 's/^spec: {}$/spec:\n  size: 3/' config/samples/*; }
no_size() { sed -i '/range(min = 1, max = 5)/d; /pub size: i32/d' $TYPE && sed -i '/^  size: 3$/d; s/^spec:$/spec: {}/' config/samples/*; }
typo() { sed -i 's/memcacheds,verbs=/memcacheds,verb=/' $CONTROLLER; }
no_typo() { sed -i 's/memcacheds,verb=/memcacheds,verbs=/' $CONTROLLER; }
no_marker() { sed -i '/resources=memcacheds\/status,/d' $CONTROLLER; }
# Sets the status as the operator would.
ready() { kubectl patch "$@" --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Ready","status":"True",
  "reason":"Available","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}'; }
"#;

#[test]
fn every_command_line_of_the_guides_runs() {
    if !has_helm("the command lines of the guides") {
        return;
    }
    let clusters = ["guides", "guides-2"].map(|name| ControlPlane::start(name, 1));
    let [Some(first), Some(second)] = clusters else { return };
    let table = fs::read_to_string(Path::new(ROOT).join("tests/cluster/guides.txt")).unwrap();
    let guides = Guide::all(&table);
    let listed: Vec<&str> = guides.iter().map(|guide| guide.page).collect();
    let pages: Vec<String> = pages().into_iter().filter(|page| !lines(page).is_empty()).collect();
    assert_eq!(listed, pages, "guides.txt has the pages that have command lines, in this order");
    let follow = |cluster: &ControlPlane, is_second: bool| {
        let guides = guides.iter().filter(|guide| guide.in_second == is_second);
        guides.map(|guide| guide.follow(cluster)).collect::<String>()
    };
    let problems = scope(|scope| {
        let others = scope.spawn(|| follow(&second, true));
        follow(&first, false) + &others.join().unwrap()
    });
    assert!(problems.is_empty(), "{problems}");
}

/// README.md and the pages of the book, except for the reference: its lines are excerpts of the help, which `tests/cli`
/// covers.
fn pages() -> Vec<String> {
    let entries = WalkDir::new(Path::new(ROOT).join("docs")).into_iter().map(Result::unwrap);
    let pages = entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "md"));
    let mut pages: Vec<String> =
        pages.map(|entry| entry.path().strip_prefix(ROOT).unwrap().to_str().unwrap().to_owned()).collect();
    pages.retain(|page| !page.starts_with("docs/reference/"));
    pages.push("README.md".into());
    pages.sort();
    pages
}

/// A command on a page.
struct Line {
    number: usize,
    text: String,
    /// The output on the page.
    shown: String,
}

impl Line {
    /// `true` if the page shows an error of opctl or the API server.
    fn fails(&self) -> bool {
        self.shown.lines().any(|line| line.starts_with("error") || line.contains(" is invalid: "))
    }

    /// `true` if the command continues on the next line: a quote is open, or the end is incomplete.
    fn goes_on(&self) -> bool {
        self.text.matches('\'').count() % 2 == 1 || self.text.ends_with(['\\', '|'])
    }
}

/// All lines in blocks of `sh`, and those after `$ ` in blocks of `console`. Indented lines continue a command.
fn lines(page: &str) -> Vec<Line> {
    let text = fs::read_to_string(Path::new(ROOT).join(page)).unwrap();
    let mut lines: Vec<Line> = Vec::new();
    // The language of the block, and its indentation.
    let mut block: Option<(&str, usize)> = None;
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        if let Some(language) = trimmed.strip_prefix("```") {
            block = if block.is_some() { None } else { Some((language, line.len() - trimmed.len())) };
            continue;
        }
        let Some((language @ ("sh" | "console"), indentation)) = block else { continue };
        let line = line.get(indentation..).unwrap_or_default();
        let goes_on = lines.last().is_some_and(Line::goes_on) || language == "sh" && line.starts_with(' ');
        match (line.strip_prefix("$ "), lines.last_mut()) {
            (_, Some(last)) if goes_on => write!(last.text, "\n{line}").unwrap(),
            (Some(command), _) => lines.push(Line { number: number + 1, text: command.into(), shown: String::new() }),
            (None, _) if language == "sh" && (line.is_empty() || line.starts_with('#')) => {}
            (None, _) if language == "sh" => {
                lines.push(Line { number: number + 1, text: line.into(), shown: String::new() });
            }
            (None, Some(last)) => writeln!(last.shown, "{line}").unwrap(),
            (None, None) => {}
        }
    }
    lines
}

/// The section of a page in `guides.txt`.
struct Guide<'a> {
    page: &'a str,
    in_second: bool,
    before: Vec<&'a str>,
    exceptions: Vec<Exception<'a>>,
}

/// An exception for a line of the page.
struct Exception<'a> {
    /// The beginning of the line.
    line: &'a str,
    before: Vec<&'a str>,
    after: Vec<&'a str>,
    instead: Option<&'a str>,
    left_out: bool,
    /// The exception includes all following lines.
    ends: bool,
}

impl<'a> Guide<'a> {
    fn all(table: &'a str) -> Vec<Self> {
        let mut guides: Vec<Self> = Vec::new();
        for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let Some(line) = line.strip_prefix("  ") else {
                guides.push(Self { page: line, in_second: false, before: Vec::new(), exceptions: Vec::new() });
                continue;
            };
            let guide = guides.last_mut().expect("a page comes first");
            let (sign, text) = line.split_once(' ').unwrap_or((line, ""));
            let last = guide.exceptions.last_mut();
            match (sign, last) {
                ("@", None) => guide.in_second = true,
                ("$", _) => guide.exceptions.push(Exception {
                    line: text,
                    before: Vec::new(),
                    after: Vec::new(),
                    instead: None,
                    left_out: false,
                    ends: false,
                }),
                ("|", None) => guide.before.push(text),
                ("|", Some(last)) => last.before.push(text),
                ("&", Some(last)) => last.after.push(text),
                ("=", Some(last)) => last.instead = Some(text),
                ("!", Some(last)) if !text.is_empty() => last.left_out = true,
                ("*", Some(last)) if !text.is_empty() => last.ends = true,
                _ => panic!("{}: `{line}`", guide.page),
            }
        }
        guides
    }

    /// Runs the commands of a page. Returns the error with the end of the output; empty on success.
    fn follow(&self, cluster: &ControlPlane) -> String {
        let script = match self.script() {
            Ok(script) => script,
            Err(problem) => return problem,
        };
        // Deletes the CRDs of other pages. The controller that finalizes their objects doubles its delay after each
        // failure, such as a conflict, so one minute is not always sufficient on a busy machine.
        cluster.kubectl(&["delete", "crds", "--all", "--timeout=300s"], "");
        let mut sandbox = Sandbox::new();
        let root = sandbox.root();
        let bin = stand_ins(&root);
        sandbox.folder = root.join("work");
        fs::create_dir_all(&sandbox.folder).unwrap();
        let mut shell = sandbox.command("sh");
        let path = shell.get_envs().find_map(|(name, value)| (name == "PATH").then_some(value?)).unwrap().to_owned();
        let assets = cluster.kubectl.parent().unwrap();
        let path = [bin].into_iter().chain([assets.to_owned()]).chain(std::env::split_paths(&path));
        shell
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("HOME", &root)
            // rustup locates the toolchain by HOME by default.
            .env("RUSTUP_HOME", std::env::var_os("RUSTUP_HOME").map_or_else(|| home().join(".rustup"), PathBuf::from))
            .env("KUBECONFIG", &cluster.kubeconfig)
            .env("KUBEBUILDER_ASSETS", assets)
            .env("IMPORT", Path::new(ROOT).join("tests/import"))
            .env("TUTORIAL", Path::new(ROOT).join("tests/book/tutorial"))
            .env("DOCS", Path::new(ROOT).join("docs"))
            .env("EXAMPLES", Path::new(ROOT).join("examples"))
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "somebody")))
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "somebody@example.com")))
            .args(["-c", &format!("exec 2>&1\n{script}")])
            .stderr(Stdio::inherit());
        let output = shell.output().unwrap();
        if output.status.success() {
            return String::new();
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<&str> = printed.lines().collect();
        format!("{}:\n{}\n\n", self.page, lines[lines.len().saturating_sub(30)..].join("\n"))
    }

    /// A script that prints each line before running it. An exception applies to the next line with the same beginning.
    fn script(&self) -> Result<String, String> {
        let mut script = FUNCTIONS.to_owned();
        self.before.iter().for_each(|command| writeln!(script, "{command}").unwrap());
        let mut exceptions = self.exceptions.iter().peekable();
        for line in lines(self.page) {
            let exception = exceptions.next_if(|exception| line.text.starts_with(exception.line));
            if let Some(exception) = exception {
                exception.before.iter().for_each(|command| writeln!(script, "{command}").unwrap());
                if exception.ends {
                    break;
                }
                if exception.left_out {
                    continue;
                }
            }
            let command = exception.and_then(|exception| exception.instead).unwrap_or(&line.text);
            writeln!(script, "cat <<'END'\n{}:{}: {}\nEND", self.page, line.number, line.text).unwrap();
            match line.fails() {
                true => writeln!(script, "if ({command}\n); then echo 'it succeeds'; exit 1; fi").unwrap(),
                false => writeln!(script, "{command}").unwrap(),
            }
            let after = exception.map(|exception| &exception.after[..]).unwrap_or_default();
            after.iter().for_each(|command| writeln!(script, "{command}").unwrap());
        }
        match exceptions.next() {
            Some(exception) => Err(format!("{}: no further line `{}`\n\n", self.page, exception.line)),
            None => Ok(script),
        }
    }
}

fn home() -> PathBuf {
    std::env::home_dir().unwrap_or_default()
}

/// The folder of the replaced programs.
fn stand_ins(root: &Path) -> PathBuf {
    let bin = root.join("bin");
    fs::create_dir(&bin).unwrap();
    let program = bin.join("stand-in");
    fs::write(&program, STAND_IN).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    STAND_INS.iter().for_each(|name| symlink(&program, bin.join(name)).unwrap());
    bin
}
