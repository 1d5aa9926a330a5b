//! Checks the documentation: links resolve, every page is in the summary, and every command line parses.

#![cfg(unix)]

mod pictures;
mod releases;
mod transcripts;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use clap::Parser;
use opctl::commands::Cli;
use opctl::diagnostics;
use opctl_model::diagnostic::Class;
use walkdir::WalkDir;

use crate::guide;
use crate::sandbox::Sandbox;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The prefix of links from the book to files of the repository, which are not on its site.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Pages by their path from the repository's root, separated by `/`.
fn pages() -> BTreeMap<String, String> {
    let top = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"].map(String::from);
    let book = files("docs").into_iter().filter(|path| path.ends_with(".md"));
    top.into_iter().chain(book).map(|path| (path.clone(), read(&path))).collect()
}

/// The files below a folder, from the repository's root.
pub fn files(folder: &str) -> Vec<String> {
    let entries = WalkDir::new(Path::new(ROOT).join(folder)).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().is_file());
    files.map(|entry| entry.path().strip_prefix(ROOT).unwrap().to_str().unwrap().replace('\\', "/")).collect()
}

pub fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn links_lead_somewhere() {
    let pages = pages();
    let mut broken = String::new();
    for (path, text) in &pages {
        for link in links(text) {
            if let Err(reason) = follow(&pages, path, &link) {
                writeln!(broken, "{path}: `{link}` {reason}").unwrap();
            }
        }
    }
    assert!(broken.is_empty(), "{broken}");
}

/// Resolves a link. Other sites are not requested.
fn follow(pages: &BTreeMap<String, String>, page: &str, link: &str) -> Result<(), String> {
    let in_repository = ["/blob/main/", "/tree/main/"].map(|kind| link.strip_prefix(REPOSITORY)?.strip_prefix(kind));
    let in_repository = in_repository.into_iter().flatten().next();
    if in_repository.is_none() && link.contains("://") {
        return Ok(());
    }
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let target = match in_repository {
        Some(_) => file[REPOSITORY.len() + "/blob/main/".len()..].to_owned(),
        None if file.is_empty() => page.to_owned(),
        None => join(page, file),
    };
    if !Path::new(ROOT).join(&target).exists() {
        return Err("leads nowhere".into());
    }
    if in_repository.is_none() && page.starts_with("docs/") && !target.starts_with("docs/") {
        return Err(format!("leads out of the book: write {REPOSITORY}/blob/main/{target}"));
    }
    match anchor {
        Some(anchor) if !pages.get(&target).is_some_and(|text| headings(text).contains(anchor)) => {
            Err("has no such heading".into())
        }
        _ => Ok(()),
    }
}

#[test]
fn the_book_names_the_repository() {
    let settings = read("docs/book.toml");
    let urls = settings.lines().filter(|line| line.contains("://"));
    let wrong: Vec<&str> = urls.filter(|line| !line.contains(&format!("\"{REPOSITORY}"))).collect();
    assert!(wrong.is_empty(), "Cargo.toml has {REPOSITORY}, and docs/book.toml\n{}", wrong.join("\n"));
    assert!(settings.contains("git-repository-url"));
}

/// `tests/operators/book.rs` covers the guide and the tour, `tests/cluster/apiserver.rs` the reference.
#[test]
fn code_is_from_files_that_compile() {
    let sources = ["crates", "examples", "tests/book"].into_iter().flat_map(files).filter(|path| path.ends_with(".rs"));
    let sources: Vec<String> = sources.map(|path| trimmed(&read(&path))).collect();
    let elsewhere =
        |path: &str| path.starts_with("docs/reference/") || ["docs/getting-started.md", "docs/tour.md"].contains(&path);
    let mut unknown = String::new();
    for (path, text) in pages().into_iter().filter(|(path, _)| !elsewhere(path)) {
        for block in guide::rust_blocks(&text) {
            let block = trimmed(block);
            let is_from = |source: &String| block.split("// …").all(|piece| source.contains(piece.trim()));
            if !sources.iter().any(is_from) {
                writeln!(unknown, "{path}: in none of the files that compile, such as those of tests/book:\n{block}")
                    .unwrap();
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown}");
}

/// The code without indentation and doc comment prefixes, since examples in documentation count as code.
fn trimmed(code: &str) -> String {
    code.lines().map(|line| format!("{}\n", line.trim().trim_start_matches("//!").trim())).collect()
}

#[test]
fn markers_in_the_code_are_valid() {
    let terminal = Sandbox::new();
    let mut opctl = terminal.command("opctl");
    opctl.args(["manifests", "--only", "rbac,webhook", "--path"]).arg(Path::new(ROOT).join("tests/book"));
    let output = opctl.arg("--output").arg(&terminal.folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Decision records are for developers: they are not in the book, but have their own index.
#[test]
fn every_page_is_listed() {
    let (decisions, book): (BTreeSet<String>, BTreeSet<String>) = pages()
        .into_keys()
        .filter(|path| path.starts_with("docs/"))
        .partition(|path| path.starts_with("docs/decisions/"));
    for (list, mut pages) in [("docs/SUMMARY.md", book), ("docs/decisions/README.md", decisions)] {
        pages.remove(list);
        assert_eq!(links(&read(list)).iter().map(|link| join(list, link)).collect::<BTreeSet<_>>(), pages);
    }
}

#[test]
fn every_command_line_parses() {
    let mut wrong = String::new();
    let mut count = 0;
    for (path, text) in pages() {
        for line in command_lines(&text) {
            count += 1;
            if let Err(error) = Cli::try_parse_from(words(&line)) {
                writeln!(wrong, "{path}: `{line}`: {}", error.to_string().lines().next().unwrap_or_default()).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 20, "only {count} command lines were found");
}

#[test]
fn every_diagnostic_is_listed_and_reported() {
    let mut named = BTreeSet::new();
    for path in
        ["src", "crates"].into_iter().flat_map(files).filter(|path| path.contains("src/") && path.ends_with(".rs"))
    {
        for line in read(&path).lines().filter(|line| !line.trim_start().starts_with("//")) {
            let is_declaration =
                line.ends_with(';') && is_code(line.trim_start().split(':').next().unwrap_or_default());
            let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !is_declaration && is_code(word));
            named.extend(words.map(str::to_owned));
        }
    }
    assert_eq!(diagnostics::all().iter().map(|code| code.name.to_owned()).collect::<BTreeSet<_>>(), named);
}

#[test]
fn what_is_left_to_the_compiler_is_told() {
    let page = read("docs/engines.md");
    let told = page.split("## What is left to the compiler").nth(1).unwrap().split("\n## ").next().unwrap();
    for code in diagnostics::all() {
        let listed = told.contains(&format!("[{code}](reference/diagnostics.md#"));
        assert_eq!(listed, code.class == Class::CompilerOnly, "{code} in docs/engines.md");
    }
}

/// `true` for `OP` and three digits.
fn is_code(text: &str) -> bool {
    text.len() == 5 && text.strip_prefix("OP").is_some_and(|digits| digits.chars().all(|c| c.is_ascii_digit()))
}

/// The targets of `[text](target)`, `href="target"` and `src="target"`, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in prose(text) {
        let line: String = line.split('`').step_by(2).collect();
        for (open, close) in [("](", ')'), ("href=\"", '"'), ("src=\"", '"')] {
            let targets = line.split(open).skip(1);
            links.extend(targets.filter_map(|rest| Some(rest.split_once(close)?.0.to_owned())));
        }
    }
    links
}

/// The anchors of a page's headings.
fn headings(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

/// The lines outside of fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// Every `opctl …` in fenced blocks of `sh`, after `$ ` in those of `console`, and in inline code; except for those
/// abbreviated with `…` and for usages.
fn command_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut language = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        match (trimmed.strip_prefix("```"), language) {
            (Some(_), Some(_)) => language = None,
            (Some(name), None) => language = Some(name),
            (None, Some("sh")) => lines.push(trimmed.to_owned()),
            (None, Some("console")) => lines.extend(trimmed.strip_prefix("$ ").map(String::from)),
            (None, Some(_)) => {}
            (None, None) => lines.extend(line.split('`').skip(1).step_by(2).map(String::from)),
        }
    }
    lines
        .into_iter()
        .map(|line| match line.strip_prefix("cargo run ").and_then(|rest| rest.split_once("-- ")) {
            Some((_, arguments)) => format!("opctl {arguments}"),
            None => line,
        })
        .filter(|line| line.starts_with("opctl ") && !line.contains('…') && !line.contains("[OPTIONS]"))
        .collect()
}

/// The words of a shell command until a comment, a redirection or the next command.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (' ', None) => words.extend(word.take()),
            ('#' | '>' | '|' | '&' | ';', None) if word.is_none() => break,
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The target of a link on a page, from the repository's root.
fn join(page: &str, link: &str) -> String {
    let mut segments: Vec<&str> = page.split('/').collect();
    segments.pop();
    for segment in link.split('/') {
        match segment {
            ".." => _ = segments.pop(),
            "." => {}
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}

#[test]
fn words_are_split_as_a_shell_does() {
    assert_eq!(words("opctl init a --owner \"The A\" # why"), ["opctl", "init", "a", "--owner", "The A"]);
    assert_eq!(words("opctl completion zsh > \"${fpath[1]}/_opctl\""), ["opctl", "completion", "zsh"]);
}

/// Words and phrases, each with a plainer equivalent. A `*` ends a stem.
const PHRASES: &[(&str, &str)] = &[
    ("anew", "again"),
    ("are said", "are set, are given"),
    ("by word", "without doing it"),
    ("is said", "is set, is given"),
    ("judge*", "check, validate"),
    ("kinds of others", "external types"),
    ("mend*", "fix"),
    ("nobody can be asked", "not a terminal"),
    ("not said", "not set, not given"),
    ("stands in", "is in, is listed in"),
    ("tells", "reports, shows"),
    ("told", "reported, shown"),
    ("what becomes of", "what happens to"),
];

/// Checks the pages, the recorded terminal sessions (with help, messages and explanations), and the files of a
/// generated project.
#[test]
fn words_are_plain() {
    let others = ["tests/cli", "templates/project"].into_iter().flat_map(files);
    let others = others.filter(|path| path.ends_with(".md") || path.ends_with(".tera"));
    let texts: BTreeMap<String, String> =
        pages().into_iter().chain(others.map(|path| (path.clone(), read(&path)))).collect();
    assert!(texts.len() > 100, "{:?}", texts.keys());
    let mut found = String::new();
    for (path, text) in &texts {
        for (number, line) in text.lines().enumerate() {
            let words = plain_words(line);
            for (phrase, plain) in PHRASES.iter().filter(|(phrase, _)| has(&words, phrase)) {
                writeln!(found, "{path}:{}: `{phrase}`: write {plain}", number + 1).unwrap();
            }
        }
    }
    assert!(found.is_empty(), "{found}");
}

/// Words outside of code, since names in the source are not checked.
fn plain_words(line: &str) -> Vec<String> {
    let words = line.split('`').step_by(2).flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

fn has(words: &[String], phrase: &str) -> bool {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    let is = |(word, wanted): (&String, &&str)| match wanted.strip_suffix('*') {
        Some(stem) => word.starts_with(stem),
        None => word == wanted,
    };
    words.windows(phrase.len()).any(|window| window.iter().zip(&phrase).all(is))
}

#[test]
fn phrases_are_found_as_whole_words() {
    let found = |line: &str, phrase: &str| has(&plain_words(line), phrase);
    assert!(found("It Stands in `PROJECT`.", "stands in") && found("mended", "mend*"));
    assert!(!found("understands in", "stands in") && !found("recommend", "mend*") && !found("a `judge_…`", "judge*"));
}
