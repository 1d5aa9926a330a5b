//! Runs helm, and extracts the reason from its errors.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::HelmError;
use crate::toolchain::{self, ToolVersion};
use opctl_model::project::LIMITS;
use opctl_process::Child;

/// The version of helm, such as `v4.3.1`.
pub fn version() -> ToolVersion {
    toolchain::version(Path::new("."), PROGRAM, &["version", "--template", "{{.Version}}"])
}

/// `true` for helm 4. Other versions store releases differently and have other error messages.
pub fn is_supported(version: &str) -> bool {
    version.starts_with("v4.")
}

const PROGRAM: &str = "helm";

/// The reason for a failed run of helm.
pub enum Failure {
    Missing,
    Failed {
        /// The reported error.
        reason: String,
        /// The whole output.
        text: String,
    },
}

impl Failure {
    pub fn into_error(self, what: &str, help: &str) -> HelmError {
        let (message, help) = match self {
            Self::Missing => ("helm, which fetches and renders charts, is not on the PATH".into(), INSTALL),
            Self::Failed { reason, .. } => (format!("{what}: {reason}"), help),
        };
        HelmError { message, help: help.into() }
    }
}

/// The fix for a missing or unsupported helm.
pub const INSTALL: &str = "install helm 4: https://helm.sh/docs/intro/install/";

/// Runs helm with arguments and a standard input, and returns its output.
pub fn run(arguments: &[&str], stdin: &str) -> Result<String, Failure> {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = Child::spawn(&mut command).and_then(|mut child| {
        match child.stdin().map_or(Ok(()), |mut pipe| pipe.write_all(stdin.as_bytes())) {
            // helm failed before it read its input, and its output has the reason.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => child.output_within(LIMITS.total),
        }
    });
    let output = match output {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Failure::Missing),
        Err(error) => return Err(Failure::Failed { reason: error.to_string(), text: String::new() }),
    };
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(stdout);
    }
    let (stdout, stderr) =
        (without_credentials(&stdout), without_credentials(&String::from_utf8_lossy(&output.stderr)));
    Err(Failure::Failed { reason: reason(&stderr), text: stdout + &stderr })
}

/// The text without credentials in URLs: `https://charts.example.com` instead of
/// `https://user:password@charts.example.com`.
pub fn without_credentials(text: &str) -> String {
    let mut parts = text.split("://");
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| letter.is_whitespace() || "/\"'`".contains(letter)).unwrap_or(part.len());
        let (authority, rest) = part.split_at(end);
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        clean.extend(["://", host, rest]);
    }
    clean
}

/// The text after `Error:`, on one line.
fn reason(stderr: &str) -> String {
    let text = stderr.split_once("Error: ").map_or(stderr, |(_, error)| error);
    let lines = text.lines().take_while(|line| !line.starts_with("Use --debug")).map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { "it reports no reason".into() } else { lines.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_names_file_and_line() {
        let stderr = "level=WARN msg=x\nError: web/templates/b.yaml:1:10\n  executing \"b.yaml\" at <.Values.x.y>:\n    nil pointer\n\n\
                      Use --debug flag to render out invalid YAML\n";
        assert_eq!(reason(stderr), "web/templates/b.yaml:1:10 executing \"b.yaml\" at <.Values.x.y>: nil pointer");
        assert_eq!(reason("signal: killed\n"), "signal: killed");
        assert_eq!(reason(""), "it reports no reason");
    }

    #[test]
    fn no_message_has_a_password() {
        let text = "a@b: \"https://me:secret@example.com/x@y\" and oci://example.com, file://../a@b";
        let expected = "a@b: \"https://example.com/x@y\" and oci://example.com, file://../a@b";
        assert_eq!(without_credentials(text), expected);
    }
}
