//! Comments begin with the thing that they describe, not with a question word.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use walkdir::WalkDir;

/// Number of comments that begin with a question word, by folder: help, descriptions in CRDs, and inputs of tests. A number may
/// only fall.
const LEFT: &[(&str, usize)] = &[
    ("crates/charts", 1),
    ("crates/model", 2),
    ("crates/olm", 1),
    ("crates/runtime", 7),
    ("crates/source", 1),
    ("src", 25),
    ("templates", 1),
    ("tests", 55),
];

const QUESTION_WORDS: &[&str] = &["How", "What", "When", "Where", "Whether", "Which", "Who", "Why"];

#[test]
fn comments_begin_with_the_thing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for folder in ["crates", "src", "templates", "tests"] {
        for entry in WalkDir::new(root.join(folder)).into_iter().map(Result::unwrap) {
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "rs" && extension != "tera") {
                continue;
            }
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            let mut parts = name.split('/');
            let folder = match folder {
                "crates" => format!("{folder}/{}", parts.nth(1).unwrap()),
                _ => folder.to_owned(),
            };
            let count =
                fs::read_to_string(path).unwrap().lines().filter(|line| begins_with_a_question_word(line)).count();
            *found.entry(folder).or_default() += count;
        }
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
