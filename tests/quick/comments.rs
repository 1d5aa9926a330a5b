//! Comments begin with the thing that they describe, not with a question word, and names are the field's.

#![cfg(unix)]

use crate::docs::{files, read};

const QUESTION_WORDS: &[&str] = &["How", "What", "When", "Where", "Whether", "Which", "Who", "Why"];

/// Cases whose comments are in the CRDs that were recorded with earlier releases of kube (`tests/versions`).
const RECORDED: &[&str] = &[
    "tests/engine/enums/documented_variants.rs",
    "tests/engine/enums/same_field_twice.rs",
    "tests/engine/kube_schema/validated.rs",
];

/// Phrases that comments do not use, and what is written instead.
const PHRASES: &[(&str, &str)] = &[
    ("anew", "again"),
    ("but for the", "except the"),
    ("held to", "checked against"),
    ("holds to", "checks against"),
    ("makes the cluster what", "creates or updates what"),
    ("mended", "fixed"),
    ("mends", "fixes"),
    ("stands in", "is in"),
    ("tells", "reports"),
    ("told", "reported"),
    ("what becomes of", "the result of"),
    ("what is there", "the existing …"),
];

/// Names of items and variables that say nothing in the terms of Kubernetes or Rust, or are several names for one thing.
const NAMES: &[&str] = &[
    "by_hand",
    "further",
    "habits",
    "is_asked",
    "is_there",
    "Diagnosed",
    "Failed",
    "Place",
    "Refusal",
    "Refusals",
    "Refused",
];

#[test]
fn comments_begin_with_the_thing_and_use_plain_words() {
    let mut found = Vec::new();
    for path in sources() {
        for (at, line) in read(&path).lines().enumerate() {
            if begins_with_a_question_word(line) && !RECORDED.contains(&&*path) {
                found.push(format!("{path}:{}: begins with a question word: {}", at + 1, line.trim()));
            }
            for (phrase, instead) in PHRASES.iter().filter(|(phrase, _)| has_phrase(line, phrase)) {
                found.push(format!("{path}:{}: write `{instead}` instead of `{phrase}`: {}", at + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn items_have_names_of_the_field() {
    let mut found = Vec::new();
    for path in sources().filter(|path| path.ends_with(".rs") && !path.starts_with("tests/")) {
        for (at, line) in read(&path).lines().enumerate() {
            if let Some(name) = declared(line).filter(|name| NAMES.contains(name)) {
                found.push(format!("{path}:{}: `{name}`", at + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_help_of_make_fits_a_terminal_of_80_columns() {
    let makefiles = files("templates").into_iter().filter(|path| path.ends_with("/Makefile.tera"));
    let lines: Vec<String> =
        makefiles.flat_map(|path| read(&path).lines().map(String::from).collect::<Vec<_>>()).collect();
    let all: Vec<&str> = lines.iter().filter_map(|line| help(line)).collect();
    assert!(all.len() > 20, "{all:?}");
    // `make help` prints it after the name of the target, in column 22.
    let long: Vec<_> = all.iter().filter(|help| help.len() > 58).collect();
    assert!(long.is_empty(), "{long:#?}");
}

fn sources() -> impl Iterator<Item = String> {
    let all = ["crates", "src", "templates", "tests"].into_iter().flat_map(files);
    all.filter(|path| path.ends_with(".rs") || path.ends_with(".tera"))
}

/// The text of a line that is a comment, or the help of a target in a Makefile.
fn comment(line: &str) -> Option<&str> {
    let start = line.trim_start();
    let comment = ["///", "//!", "//", "# "].iter().find_map(|mark| start.strip_prefix(mark));
    comment.or_else(|| help(line))
}

/// The text after `##` in `target: dependencies ## help`.
fn help(line: &str) -> Option<&str> {
    line.split_once(": ")?.1.split_once("## ").map(|(_, help)| help)
}

fn begins_with_a_question_word(line: &str) -> bool {
    let first = comment(line).and_then(|text| text.split_whitespace().next());
    first.is_some_and(|word| QUESTION_WORDS.contains(&word))
}

/// Compares whole words, in any case.
fn has_phrase(line: &str, phrase: &str) -> bool {
    let Some(text) = comment(line).map(str::to_lowercase) else { return false };
    let is_letter = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
    text.match_indices(phrase).any(|(at, found)| {
        !is_letter(text[..at].chars().next_back()) && !is_letter(text[at + found.len()..].chars().next())
    })
}

/// The name of the item, or of the variable, that a line declares.
fn declared(line: &str) -> Option<&str> {
    const KEYWORDS: &[&str] = &["const", "enum", "fn", "mod", "static", "struct", "trait", "type", "let"];
    let mut words =
        line.split_whitespace().skip_while(|word| word.starts_with("pub") || matches!(*word, "async" | "unsafe"));
    words.next().filter(|word| KEYWORDS.contains(word))?;
    let name = words.find(|word| *word != "mut")?;
    name.split(|char: char| !char.is_alphanumeric() && char != '_').next()
}

#[test]
fn only_comments_and_declarations_are_checked() {
    assert!(begins_with_a_question_word("    /// Whether it is.") && begins_with_a_question_word("# What it has"));
    assert!(!begins_with_a_question_word("let what = 1;") && !begins_with_a_question_word("/// Whatever it is."));
    assert!(has_phrase("// It is told here.", "told") && !has_phrase("// It is untold.", "told"));
    assert!(!has_phrase("let told = 1; // told", "told"));
    assert!(has_phrase(&format!("undeploy: {} Delete all but for the CRDs", "##"), "but for the"));
    assert_eq!(declared("    pub(crate) async fn is_there(&self) -> bool {"), Some("is_there"));
    assert_eq!(declared("let mut by_hand = 1;"), Some("by_hand"));
    assert_eq!(declared("return further;"), None);
}
