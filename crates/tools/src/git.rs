//! Reads the files of another commit from git.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use opctl_model::threads;
use opctl_process::Child;

/// The merge base of the current commit and `reference` (a branch, tag or commit) in the repository around
/// `folder`. A comparison with it does not include what others changed since.
///
/// # Errors
///
/// If git is not installed or fails. The message is the output of git.
pub fn merge_base(folder: &Path, reference: &str) -> Result<String, String> {
    let commit = format!("{reference}^{{commit}}");
    let commit = run(folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])
        .map_err(|why| if why.is_empty() { format!("git has no commit `{reference}`") } else { why })?;
    run(folder, &["merge-base", commit.trim(), "HEAD"]).map(|base| base.trim().to_owned()).map_err(|why| {
        match why.is_empty() {
            true => format!("`{reference}` and the current commit have no common ancestor here"),
            false => why,
        }
    })
}

/// The files of a commit at or below a path: their paths relative to `folder`, and their texts.
///
/// # Errors
///
/// If git fails. The message is its output.
pub fn files(folder: &Path, commit: &str, below: &str) -> Result<Vec<(String, String)>, String> {
    let listed = run(folder, &["ls-tree", "-r", "-z", commit, "--", below])?;
    // Entries are `MODE blob ID<tab>PATH`; a submodule has `commit` instead of `blob`.
    let blobs = listed.split('\0').filter_map(|entry| {
        let (entry, path) = entry.split_once('\t')?;
        Some((entry.split_once(" blob ")?.1, path))
    });
    let blobs: Vec<(&str, &str)> = blobs.collect();
    let ids: String = blobs.iter().map(|(id, _)| format!("{id}\n")).collect();
    // One process reads all blobs.
    let contents = output(folder, &["cat-file", "--batch"], &ids)?;
    let mut rest = &contents[..];
    let mut files = Vec::new();
    for (_, path) in blobs {
        let blob = next_blob(&mut rest).ok_or_else(|| format!("git does not print `{path}` of {commit}"))?;
        files.push((path.to_owned(), String::from_utf8_lossy(blob).into_owned()));
    }
    Ok(files)
}

/// Splits off the next `ID blob SIZE<newline>CONTENT<newline>`.
fn next_blob<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&rest[..end]).ok()?;
    let size: usize = head.split_once(" blob ")?.1.parse().ok()?;
    let blob = rest.get(end + 1..)?.get(..size)?;
    *rest = rest.get(end + 1 + size + 1..)?;
    Some(blob)
}

fn run(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    output(folder, arguments, "").map(|output| String::from_utf8_lossy(&output).into_owned())
}

fn output(folder: &Path, arguments: &[&str], input: &str) -> Result<Vec<u8>, String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(arguments).stdin(Stdio::piped());
    let child = Child::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let output = child.and_then(|mut child| {
        let stdin = child.stdin();
        // A failed write is ignored: git exited early, and its output has the reason.
        let write = || stdin.map(|mut stdin| stdin.write_all(input.as_bytes()));
        threads::both(write, || child.output()).1
    });
    let output = output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "git is not installed".to_owned(),
        _ => format!("cannot run git: {error}"),
    })?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("fatal: ").to_owned()),
    }
}
