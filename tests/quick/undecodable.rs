//! Diagnostics about the cases of `tests/undecodable`: objects that an API server admits and a type cannot decode.

use std::fmt::Write;
use std::fs;

use opctl_model::diagnostic::{Diagnostic, render};

use crate::undecodable_cases::{cases, check, fixed};

#[test]
fn says_what_is_admitted_and_not_decoded() {
    let mut differences = String::new();
    for (name, (path, text)) in cases() {
        let said = render(&check(&name, &text), false);
        let expected = path.with_extension("txt");
        if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
            fs::write(expected, said).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != said {
            writeln!(differences, "{} (SNAPSHOTS=overwrite accepts it):\n{said}", expected.display()).unwrap();
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

#[test]
fn an_attribute_that_is_added_ends_it() {
    for (name, (_, text)) in cases() {
        let before = check(&name, &text);
        let fixable = |diagnostic: &&Diagnostic| diagnostic.help.iter().any(|help| help.starts_with("add `#[schemars"));
        let left = before.len() - before.iter().filter(fixable).count();
        // A repeated attribute does not compile, so the existing bounds would have to be changed.
        if name == "bounds_too_wide" {
            continue;
        }
        let after = check(&name, &fixed(&text, &before));
        assert_eq!(after.len(), left, "{name}:\n{}", render(&after, false));
    }
}
