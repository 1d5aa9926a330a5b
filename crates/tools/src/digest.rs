//! Asks a registry for the digest of an image, with the first program that can. For an image of several platforms, it is
//! the digest of their list.

use super::pull::{PullError, run};

/// The commands that print a digest. Programs without a daemon are first; the last ones pull the image.
const WAYS: [(&str, &[&[&str]]); 6] = [
    ("crane", &[&["digest", "{}"]]),
    ("skopeo", &[&["inspect", "--format", "{{.Digest}}", "docker://{}"]]),
    ("regctl", &[&["image", "digest", "{}"]]),
    ("docker", &[&["buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}", "{}"]]),
    ("podman", &[&["pull", "--quiet", "{}"], &["image", "inspect", "--format", REPOSITORIES, "{}"]]),
    ("nerdctl", &[&["pull", "--quiet", "{}"], &["image", "inspect", "--format", REPOSITORIES, "{}"]]),
];

/// `NAME@sha256:…`, the reference by which the image was pulled.
const REPOSITORIES: &str = "{{index .RepoDigests 0}}";

/// The names of the programs.
pub fn programs() -> Vec<&'static str> {
    WAYS.iter().map(|(program, _)| *program).collect()
}

/// The digest of an image, `sha256:…`.
///
/// # Errors
///
/// If no program can get it.
pub fn of(image: &str) -> Result<String, PullError> {
    let mut reasons = Vec::new();
    for (program, commands) in WAYS {
        match ask(program, commands, image) {
            Ok(digest) => return Ok(digest),
            Err(reason) => reasons.push((program, reason)),
        }
    }
    Err(PullError { reasons })
}

fn ask(program: &str, commands: &[&[&str]], image: &str) -> Result<String, String> {
    let mut printed = Vec::new();
    for command in commands {
        // `{}` is also in `{{}}`, so it is replaced only at the end.
        let argument = |argument: &&str| match argument.strip_suffix("{}") {
            Some(start) => format!("{start}{image}"),
            None => (*argument).to_owned(),
        };
        printed = run(program, command.iter().map(argument))?;
    }
    let printed = String::from_utf8_lossy(&printed);
    let text = printed.trim();
    let digest = text.rsplit('@').next().unwrap_or_default();
    match is_digest(digest) {
        true => Ok(digest.to_owned()),
        false => Err(format!("it printed `{text}` instead of a digest")),
    }
}

/// `true` for `sha256:` and 64 hexadecimal digits.
pub fn is_digest(digest: &str) -> bool {
    let hex = digest.strip_prefix("sha256:").unwrap_or_default();
    hex.len() == 64 && hex.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase())
}
