//! Queries the versions of the tools that a project needs, such as `rustc --version`.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use opctl_process::Child;

/// The first line of a program's output, or the reason why there is none.
pub type ToolVersion = Result<String, ToolError>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolError {
    /// The program is not on PATH.
    Missing,
    /// The program fails. The reason is the first line with `error:`, or else the last one.
    Broken(String),
}

/// Queries a version in `folder`, where a `rust-toolchain.toml` may select the Rust version.
pub fn version(folder: &Path, program: &str, arguments: &[&str]) -> ToolVersion {
    let mut command = Command::new(program);
    // The query must not install a toolchain.
    command.args(arguments).current_dir(folder).env("RUSTUP_AUTO_INSTALL", "0").stdin(Stdio::null());
    let output = Child::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped())).and_then(Child::output);
    let output = match output {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ToolError::Missing),
        Err(error) => return Err(ToolError::Broken(error.to_string())),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match text(&output.stdout).lines().next() {
        Some(line) if output.status.success() => Ok(line.trim().into()),
        _ => {
            let stderr = text(&output.stderr);
            let error = stderr.lines().find_map(|line| line.trim().strip_prefix("error:"));
            Err(ToolError::Broken(
                error.or_else(|| stderr.lines().last()).unwrap_or("it printed no error").trim().into(),
            ))
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn gives_the_first_line_or_the_reason() {
        let asked = |script: &str| version(Path::new("/"), "sh", &["-c", script]);
        assert_eq!(asked("echo 'rustc 1.95.0 '; echo more"), Ok("rustc 1.95.0".into()));
        assert_eq!(
            asked("echo a >&2; echo 'no such component' >&2; exit 1"),
            Err(ToolError::Broken("no such component".into()))
        );
        assert_eq!(
            asked("echo 'error: no default' >&2; echo 'help: choose one' >&2; exit 1"),
            Err(ToolError::Broken("no default".into()))
        );
        assert_eq!(asked(""), Err(ToolError::Broken("it printed no error".into())));
        assert_eq!(version(Path::new("/"), "no-such-program", &[]), Err(ToolError::Missing));
    }
}
