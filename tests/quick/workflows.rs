//! The workflows of opctl and of a new project. actionlint checks the latter, with shellcheck for their scripts.

use std::fs;
use std::path::Path;

use serde_json::Value;
use walkdir::WalkDir;

use crate::sandbox::{Sandbox, shell};
use crate::skipped::skipped;

fn project() -> Sandbox {
    let mut sandbox = Sandbox::new();
    shell(&sandbox, "opctl -q init shop --domain example.com && cd shop && git init -q .");
    sandbox.folder.push("shop");
    sandbox
}

#[test]
fn workflows_of_a_project_are_sound() {
    let sandbox = project();
    let workflows = fs::read_dir(sandbox.folder.join(".github/workflows")).unwrap();
    for path in workflows.map(|entry| entry.unwrap().path()) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("\npermissions:\n  contents: read\n"), "{}", path.display());
    }
    match sandbox.command("actionlint").arg("--version").output() {
        Ok(_) => shell(&sandbox, "actionlint -oneline >&2"),
        Err(_) => skipped("the workflows of a project", "actionlint is not on the PATH"),
    }
}

/// A tag can be moved to another commit, which would change the code.
#[test]
fn actions_are_pinned_by_commit() {
    let mut count = 0;
    for folder in [".github", "docs", "examples", "templates"] {
        let files = WalkDir::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).into_iter();
        let files = files.filter_entry(|entry| entry.file_name() != "target").map(Result::unwrap);
        for file in files.filter(|file| file.file_type().is_file()) {
            let text = fs::read(file.path()).unwrap();
            for action in String::from_utf8_lossy(&text).lines().filter_map(action) {
                assert!(is_pinned(action), "{}: `{action}` is not `NAME@COMMIT # vX.Y.Z`", file.path().display());
                count += 1;
            }
        }
    }
    assert!(count > 50, "{count}");
    for wrong in [
        "actions/cache@v4",
        "actions/cache@0057852bfaa89a56745cba8c7296529d2fc39830",
        "actions/cache@0057852bfaa89a56745cba8c7296529d2fc39830 # v4",
        "actions/cache@0057852 # v4.3.0",
    ] {
        assert!(!is_pinned(wrong), "{wrong}");
    }
}

/// The action of a step.
fn action(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("- ").unwrap_or(line).strip_prefix("uses: ")
}

fn is_pinned(action: &str) -> bool {
    let version = action.split_once('@').and_then(|(_, version)| version.split_once(" # v"));
    version.is_some_and(|(commit, tag)| {
        let numbers: Vec<&str> = tag.split('.').collect();
        commit.len() == 40
            && commit.chars().all(|digit| digit.is_ascii_hexdigit())
            && numbers.len() == 3
            && numbers.iter().all(|number| number.parse::<u32>().is_ok())
    })
}

/// `opctl update` and cargo run third-party code: that of opctl, the project and its dependencies.
#[test]
fn the_job_that_opens_the_pull_request_of_an_update_runs_no_code_of_others() {
    let update = fs::read_to_string(project().folder.join(".github/workflows/update.yml")).unwrap();
    let update: Value = opctl_model::yaml::read(&update).unwrap();
    let writes = |job: &&Value| job["permissions"].to_string().contains("write");
    let (writing, others): (Vec<&Value>, Vec<&Value>) = update["jobs"].as_object().unwrap().values().partition(writes);
    let texts = |job: &Value, key: &str| -> Vec<String> {
        let steps = job["steps"].as_array().unwrap().iter();
        steps.filter_map(|step| Some(step[key].as_str()?.to_owned())).collect()
    };
    assert!(others.iter().any(|job| texts(job, "run").concat().contains("opctl update ")), "{update}");
    let [job] = writing[..] else { panic!("{update}") };
    for action in texts(job, "uses") {
        let is_known = ["actions/checkout@", "actions/download-artifact@"].iter().any(|name| action.starts_with(name));
        assert!(is_known, "{action}");
    }
    let script = texts(job, "run").join("\n").replace("\\\n", " ");
    for command in script.split(['\n', '|', '&']).map(str::trim).filter(|command| !command.is_empty()) {
        let program = command.split(' ').next().unwrap();
        assert!(program.contains('=') || ["gh", "git", "grep"].contains(&program), "{command}");
    }
}
