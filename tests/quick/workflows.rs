//! The workflows of a new project, with actionlint, which has shellcheck look at their scripts.

use std::fs;

use crate::golden::shell;
use crate::sandbox::Sandbox;
use crate::skipped::skipped;

#[test]
fn workflows_of_a_project_are_sound() {
    let mut sandbox = Sandbox::new();
    shell(&sandbox, "opctl -q init shop --domain example.com && cd shop && git init -q .");
    sandbox.folder.push("shop");
    let workflows = fs::read_dir(sandbox.folder.join(".github/workflows")).unwrap();
    for path in workflows.map(|entry| entry.unwrap().path()) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("\npermissions:\n  contents: read\n"), "{}", path.display());
    }
    // Whoever publishes runs no action that may change.
    let release = fs::read_to_string(sandbox.folder.join(".github/workflows/release.yml")).unwrap();
    for action in release.lines().filter_map(|line| line.split_once("uses: ")).map(|(_, action)| action) {
        let (_, version) = action.split_once('@').unwrap();
        let sha = version.split(' ').next().unwrap();
        assert!(sha.len() == 40 && sha.chars().all(|digit| digit.is_ascii_hexdigit()), "{action}");
    }
    match sandbox.command("actionlint").arg("--version").output() {
        Ok(_) => shell(&sandbox, "actionlint -oneline >&2"),
        Err(_) => skipped("the workflows of a project", "actionlint is not on the PATH"),
    }
}
