//! Replays the terminal sessions in `tests/cli/*.md`: each `$ ` line of a `console` block runs in a shell, in a new
//! empty folder, and must print the following lines. `? 1` is an exit code other than 0.
//!
//! Each case is one file. `SNAPSHOTS=overwrite cargo test --test quick cli` records the output; review it before
//! committing.
#![cfg(unix)]

use std::path::{Path, PathBuf};

use snapbox::{Assert, Data};

use crate::cores::on_all_cores;
use crate::sandbox::Sandbox;

#[test]
fn sessions_are_as_recorded() {
    let folder = Path::new("tests/cli");
    let mut sessions: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    sessions.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    sessions.sort();
    assert!(sessions.len() > 10, "the sessions are not found");
    let failures = on_all_cores(&sessions, |session| play(session).err());
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
}

fn play(session: &Path) -> Result<(), String> {
    let script = std::fs::read_to_string(session).unwrap();
    let mut sandbox = Sandbox::new();
    let mut played = String::new();
    let mut in_console = false;
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            in_console = line == "```console";
        }
        let Some(command) = line.strip_prefix("$ ").filter(|_| in_console) else {
            // The recorded output is replaced by the current one.
            if !in_console || line.starts_with("```") {
                played.push_str(&format!("{line}\n"));
            }
            continue;
        };
        let mut command = command.to_owned();
        played.push_str(&format!("{line}\n"));
        while let Some(more) = lines.next_if(|line| line.starts_with('>')) {
            command.push_str(&format!("\n{}", more.strip_prefix("> ").unwrap_or(&more[1..])));
            played.push_str(&format!("{more}\n"));
        }
        let (code, said) = shell(&mut sandbox, &command);
        played.push_str(&said);
        if code != 0 {
            played.push_str(&format!("? {code}\n"));
        }
    }
    Assert::new()
        .action_env("SNAPSHOTS")
        .try_eq(None, Data::text(played), Data::read_from(session, None).raw())
        .map_err(|error| error.to_string())
}

/// The exit code, stdout and stderr. The path of the sandbox is replaced by `[ROOT]`, and the platform, such as
/// `linux-amd64`, by `[PLATFORM]`.
fn shell(sandbox: &mut Sandbox, line: &str) -> (i32, String) {
    if let Some(folder) = line.strip_prefix("cd ") {
        sandbox.folder = sandbox.folder.join(folder).canonicalize().unwrap();
        return (0, String::new());
    }
    let output = sandbox.command("sh").args(["-c", &format!("exec 2>&1\n{line}")]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let code = output.status.code().expect("the shell was not killed");
    let said = said.replace(sandbox.root().to_str().unwrap(), "[ROOT]");
    (code, said.replace(&opctl_testenv::assets::platform(), "[PLATFORM]"))
}
