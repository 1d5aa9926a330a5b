//! Random edits of a project by its user, and its files before and after.

use std::collections::BTreeMap;
use std::fs;

use crate::dice::Dice;
use crate::sandbox::Sandbox;
use crate::{record, tree};

pub type Files = BTreeMap<String, Vec<u8>>;

/// All files of a project, including the record.
pub fn files(sandbox: &Sandbox) -> Files {
    let record = record::files(&sandbox.folder).into_iter().map(|(path, text)| (format!(".opctl/{path}"), text));
    tree::tree(&sandbox.folder).into_iter().chain(record).collect()
}

/// Replaces the files of the project's folder.
pub fn restore(sandbox: &Sandbox, files: &Files) {
    fs::remove_dir_all(&sandbox.folder).unwrap();
    for (path, text) in files {
        let path = sandbox.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Adds lines to a file, and removes others. Added lines are pushed to `own`.
pub fn edit(text: &str, path: &str, own: &mut Vec<String>, dice: &mut Dice) -> String {
    let comment = if path.ends_with(".rs") || path.ends_with(".json") { "//" } else { "#" };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..dice.between(1, 4) {
        let at = dice.below(lines.len());
        if dice.percent(30) && !lines[at].contains("mine ") && path != "Cargo.toml" {
            lines.remove(at);
        } else {
            let line = format!("{comment} mine {}", own.len());
            lines.insert(at, line.clone());
            own.push(line);
        }
        lines.extend(lines.is_empty().then(String::new));
    }
    lines.join("\n") + "\n"
}
