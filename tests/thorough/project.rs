//! A new project, commands in it, and its files before and after.

use std::process::Output;

use crate::edits::Files;
use crate::sandbox::{Sandbox, shell};

/// A project created by `opctl init` with these arguments, the name first.
pub fn init(arguments: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    shell(&sandbox, &format!("opctl init {arguments}"));
    sandbox.folder.push(arguments.split(' ').next().unwrap());
    sandbox
}

pub fn opctl(sandbox: &Sandbox, arguments: &str) -> Output {
    sandbox.command("opctl").args(arguments.split_whitespace()).output().unwrap()
}

/// Runs a command and returns its output. Panics if it fails.
#[track_caller]
pub fn succeeds(sandbox: &Sandbox, arguments: &str) -> String {
    let output = opctl(sandbox, arguments);
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{arguments}: {text}");
    text
}

#[track_caller]
pub fn assert_same(before: &Files, after: &Files, what: &str) {
    for path in before.keys().chain(after.keys()) {
        let [one, other] = [before, after].map(|files| files.get(path));
        let [old, new] = [one, other].map(|text| String::from_utf8_lossy(text.map_or(&[], Vec::as_slice)).into_owned());
        let lines = || similar::TextDiff::from_lines(&old, &new).unified_diff().to_string();
        assert!(one == other, "{what}: {path} {:?}\n{}", (one.is_some(), other.is_some()), lines());
    }
}
