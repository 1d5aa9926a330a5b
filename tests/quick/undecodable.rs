//! What an API server admits, and a type does not decode: what opctl says of the cases of `tests/undecodable`.

use std::fmt::Write;
use std::fs;

use opctl::commands::decoding::Decoding;
use opctl::diagnostic::{Diagnostic, render};

use crate::undecodable_cases::{cases, check, fixed};

#[test]
fn says_what_is_admitted_and_not_decoded() {
    let mut differences = String::new();
    for (name, (path, text)) in cases() {
        let Decoding { diagnostics, unknown, .. } = check(&name, &text);
        let mut said = render(&diagnostics, false);
        for field in unknown {
            writeln!(said, "unknown: {field}").unwrap();
        }
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
        let left = before.diagnostics.len() - before.diagnostics.iter().filter(fixable).count();
        // An attribute twice does not compile: there the bounds are to be changed.
        if name == "bounds_too_wide" {
            continue;
        }
        let after = check(&name, &fixed(&text, &before.diagnostics));
        assert_eq!(after.diagnostics.len(), left, "{name}:\n{}", render(&after.diagnostics, false));
    }
}
