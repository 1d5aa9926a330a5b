//! Comments begin with the thing that they describe, not with a question word.

#![cfg(unix)]

use std::collections::BTreeMap;

use crate::docs::{files, read};

/// Number of comments that begin with a question word, by folder: help, descriptions in CRDs, and inputs of tests. A number may
/// only fall.
const LEFT: &[(&str, usize)] = &[
    ("crates/charts", 1),
    ("crates/model", 2),
    ("crates/olm", 1),
    ("crates/runtime", 6),
    ("crates/source", 1),
    ("templates", 1),
    ("tests", 45),
];

const QUESTION_WORDS: &[&str] = &["How", "What", "When", "Where", "Whether", "Which", "Who", "Why"];

#[test]
fn comments_begin_with_the_thing() {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for path in ["crates", "src", "templates", "tests"].into_iter().flat_map(files) {
        if !path.ends_with(".rs") && !path.ends_with(".tera") {
            continue;
        }
        let parts = if path.starts_with("crates/") { 2 } else { 1 };
        let folder = path.split('/').take(parts).collect::<Vec<_>>().join("/");
        *found.entry(folder).or_default() += read(&path).lines().filter(|it| begins_with_a_question_word(it)).count();
    }
    found.retain(|_, count| *count > 0);
    let left: BTreeMap<String, usize> = LEFT.iter().map(|(folder, count)| ((*folder).to_owned(), *count)).collect();
    assert_eq!(found, left);
}

fn begins_with_a_question_word(line: &str) -> bool {
    let line = line.trim_start();
    let comment = ["///", "//!", "//", "# "].iter().find_map(|mark| line.strip_prefix(mark));
    comment.is_some_and(|text| {
        text.split(' ').find(|word| !word.is_empty()).is_some_and(|word| QUESTION_WORDS.contains(&word))
    })
}

#[test]
fn question_words_are_found_in_comments_only() {
    assert!(begins_with_a_question_word("    /// Whether it is.") && begins_with_a_question_word("# What it has"));
    assert!(!begins_with_a_question_word("let what = 1;") && !begins_with_a_question_word("/// Whatever it is."));
}
