//! Lists occurrences of the old name in strings, comments and prose, which opctl does not change.

use std::collections::BTreeSet;
use std::iter;

use super::{Renaming, Target};
use crate::api::rescaffold::Texts;
use crate::scaffold::BOILERPLATE;
use opctl_edit as edit;

/// A line for each file: `README.md:3, 17`. The license `header` is listed only in its own file.
pub fn list(renaming: &Renaming, texts: &Texts, header: &str) -> Vec<String> {
    let (old, new) = words(renaming);
    let mut found = Vec::new();
    for (path, text) in texts.iter().filter(|(path, _)| !path.ends_with(".lock")) {
        let ranges = match path.ends_with(".rs") {
            // The remaining names in code are the user's own.
            true => edit::texts_and_comments(text),
            false => iter::once(0..text.len()).collect(),
        };
        let lines: BTreeSet<usize> = ranges
            .into_iter()
            .flat_map(|range| places(&text[range.clone()], &old, &new).into_iter().map(move |at| range.start + at))
            .map(|at| text[..at].matches('\n').count() + 1)
            .filter(|line| path == BOILERPLATE || !is_header(text.lines().nth(line - 1).unwrap_or_default(), header))
            .collect();
        if !lines.is_empty() {
            let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
            found.push(format!("{path}:{}", lines.join(", ")));
        }
    }
    found
}

fn is_header(line: &str, header: &str) -> bool {
    let line = line.trim_start_matches(['#', '/', '<', '!', '-', ' ']).trim_end_matches([' ', '-', '>']);
    !line.is_empty() && header.lines().any(|other| other.trim() == line)
}

/// The old names, and new names that may contain them.
fn words(renaming: &Renaming) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut old, mut new) = (BTreeSet::new(), BTreeSet::new());
    match &renaming.target {
        Target::Kind { kind, to, .. } => {
            for (words, kind) in [(&mut old, kind), (&mut new, to)] {
                words.extend(["", "Spec", "Status"].map(|end| format!("{kind}{end}")));
                words.extend([kind.type_name(), kind.module(), kind.singular()]);
            }
            old.extend(renaming.kinds.iter().map(|(old, _)| old.plural.clone()));
            // The names of the project and its domain do not change.
            let others =
                [renaming.file.name.to_string(), renaming.file.name.crate_name(), renaming.file.domain.to_string()];
            new.extend(others.into_iter().filter(|name| !old.contains(name)));
            new.extend(renaming.kinds.iter().map(|(_, new)| new.plural.clone()));
        }
        Target::Group { .. } => {
            old.extend(renaming.kinds.iter().map(|(old, _)| old.group.clone()));
            new.extend(renaming.kinds.iter().map(|(_, new)| new.group.clone()));
        }
        Target::Domain(to) => {
            old.insert(renaming.file.domain.to_string());
            new.insert(to.to_string());
        }
        Target::Project(to) => {
            old.extend([renaming.file.name.to_string(), renaming.file.name.crate_name()]);
            new.extend([to.to_string(), to.crate_name()]);
        }
    }
    (old, new)
}

/// The offsets of old names that are whole words and not part of a new name.
fn places(text: &str, old: &BTreeSet<String>, new: &BTreeSet<String>) -> Vec<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut places = Vec::new();
    for word in old {
        for (at, _) in text.match_indices(word.as_str()) {
            let end = at + word.len();
            let is_new = new.iter().filter(|name| name.contains(word.as_str())).any(|name| {
                name.match_indices(word.as_str()).any(|(offset, _)| {
                    at.checked_sub(offset)
                        .is_some_and(|start| text.get(start..).is_some_and(|text| text.starts_with(name.as_str())))
                })
            });
            if !is_new && !text[..at].ends_with(is_part) && !text[end..].starts_with(is_part) {
                places.push(at);
            }
        }
    }
    places
}
