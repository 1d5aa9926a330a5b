//! Merges a newer rendering of a template into a file that was edited since.
//!
//! Lines are merged as in git. The result must be valid: Rust, TOML and YAML are parsed. A change on both sides is a
//! conflict.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use similar::{Algorithm, ConflictStyle, DiffTag, TextMerge, capture_diff_slices};

use super::cargo;
use opctl_model::yaml;

/// A merged text, or the conflicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    Clean(String),
    Conflict {
        /// The text with `<<<<<<< yours`, the common ancestor, and `>>>>>>> new scaffold`.
        marked: String,
        reason: String,
    },
}

/// The lines that mark conflicts.
const MARKERS: [&str; 4] = ["<<<<<<< yours", "||||||| scaffolded", "=======", ">>>>>>> new scaffold"];

/// Merges the changes from `base` to `theirs` into `ours`. `path` determines the language.
pub fn merge(path: &str, base: &str, ours: &str, theirs: &str) -> Merged {
    let merge = TextMerge::from_lines(base, ours, theirs);
    if !merge.is_conflicted() {
        let text = merge.to_string();
        return match unreadable(path, &text) {
            // If the user's text was invalid before, the merge is not at fault.
            Some(why) if unreadable(path, ours).is_none() => Merged::Conflict {
                marked: marked(ours, base, theirs),
                reason: format!("the merged file cannot be read: {why}"),
            },
            _ => Merged::Clean(text),
        };
    }
    if path.rsplit('/').next() == Some("Cargo.toml")
        && let Some(text) = cargo::merge(base, ours, theirs)
    {
        return Merged::Clean(text);
    }
    let lines: Vec<String> = merge
        .conflicts()
        .map(|region| match region.ours_range() {
            range if range.len() < 2 => (range.start + 1).to_string(),
            range => format!("{}-{}", range.start + 1, range.end),
        })
        .collect();
    let mut merge = merge;
    merge.conflict_style(ConflictStyle::Diff3).labels("scaffolded", "yours", "new scaffold");
    let places = if let [one] = &lines[..]
        && !one.contains('-')
    {
        "line"
    } else {
        "lines"
    };
    Merged::Conflict {
        marked: merge.to_string(),
        reason: format!("you and the scaffold changed the same {places}: {}", lines.join(", ")),
    }
}

/// Replacements of lines.
pub type Lines = BTreeMap<String, String>;

/// The lines that a newer text changes in place, provided that all equal lines are changed in the same way.
pub fn changed_lines(base: &str, new: &str) -> Lines {
    let [base, new] = [base, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let mut lines = Lines::new();
    let mut ambiguous = BTreeSet::new();
    for operation in capture_diff_slices(Algorithm::Myers, &base, &new) {
        let (old, new) = (&base[operation.old_range()], &new[operation.new_range()]);
        if old.len() != new.len() || operation.tag() != DiffTag::Replace {
            continue;
        }
        for (old, new) in old.iter().zip(new) {
            if lines.insert((*old).to_owned(), (*new).to_owned()).is_some_and(|known| known != **new) {
                ambiguous.insert(*old);
            }
        }
    }
    lines.retain(|line, _| !ambiguous.contains(line.as_str()));
    lines
}

/// The text with these lines replaced. Keeps its line endings.
pub fn with_lines(text: &str, lines: &Lines) -> String {
    let renamed = text.split_inclusive('\n').map(|line| match line.strip_suffix("\r\n") {
        Some(start) => {
            lines.get(&format!("{start}\n")).map_or_else(|| line.to_owned(), |new| new.replace('\n', "\r\n"))
        }
        None => lines.get(line).cloned().unwrap_or_else(|| line.to_owned()),
    });
    renamed.collect()
}

/// The number of the first line with a conflict marker.
pub fn marker(text: &str) -> Option<usize> {
    let is_marker = |line: &str| line == MARKERS[0] || line == MARKERS[3];
    text.lines().position(is_marker).map(|line| line + 1)
}

/// The whole file as one conflict.
fn marked(ours: &str, base: &str, theirs: &str) -> String {
    let ended =
        |text: &str| if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let parts = [ours, base, theirs].map(ended);
    let lines: String = MARKERS.iter().zip(parts).map(|(marker, part)| format!("{marker}\n{part}")).collect();
    format!("{lines}{}\n", MARKERS[3])
}

/// The parse error of a file, by its extension.
fn unreadable(path: &str, text: &str) -> Option<String> {
    match path.rsplit_once('.')?.1 {
        "rs" => syn::parse_file(text).err().map(|error| error.to_string()),
        "toml" => cargo::unreadable(text),
        "yaml" | "yml" => yaml::read_all::<Value>(text).err().map(|error| error.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_are_kept() {
        let merged = merge("a.txt", "1\n2\n3\n4\n", "1\nmine\n2\n3\n4\n", "1\n2\n3\n4\nnew\n");
        assert_eq!(merged, Merged::Clean("1\nmine\n2\n3\n4\nnew\n".into()));
    }

    #[test]
    fn lines_change_wherever_they_are() {
        let lines = changed_lines("// Of a.\nx\na\n}\nb\n}\n", "// Of c.\nx\nc\n)\nb\n]\n");
        assert_eq!(with_lines("mine\n// Of a.\r\n}\na\nb", &lines), "mine\n// Of c.\r\n}\nc\nb");
    }

    #[test]
    fn the_same_lines_are_a_conflict_with_all_three_texts() {
        let Merged::Conflict { marked, reason } = merge("a.txt", "1\n2\n3\n", "1\nmine\n3\n", "1\nnew\n3\n") else {
            panic!("both changed line 2")
        };
        assert_eq!(reason, "you and the scaffold changed the same line: 2");
        assert_eq!(marked, "1\n<<<<<<< yours\nmine\n||||||| scaffolded\n2\n=======\nnew\n>>>>>>> new scaffold\n3\n");
        assert_eq!(marker(&marked), Some(2));
    }

    #[test]
    fn a_merge_that_does_not_parse_is_a_conflict() {
        let base = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n";
        let ours = "fn a() {\n    one();\n    if x {\n        three();\n}\n\nfn b() {\n    two();\n}\n}\n";
        let theirs = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n\nfn c() {}\n";
        assert!(syn::parse_file(ours).is_ok());
        match merge("a.rs", base, ours, theirs) {
            Merged::Clean(text) => assert!(syn::parse_file(&text).is_ok(), "{text}"),
            Merged::Conflict { marked, .. } => assert!(marker(&marked).is_some()),
        }
    }
}
