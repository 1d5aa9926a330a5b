//! Asks git for the files of another commit.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::interrupt::Child;

/// The commit from which the current one and `reference` (a branch, tag or commit) went separate ways, in the repository around
/// `folder`: comparing with it leaves out what others changed since.
///
/// # Errors
///
/// What git prints, or that it is not installed.
pub fn merge_base(folder: &Path, reference: &str) -> Result<String, String> {
    let commit = format!("{reference}^{{commit}}");
    let commit = run(folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])
        .map_err(|why| if why.is_empty() { format!("git knows no commit `{reference}`") } else { why })?;
    run(folder, &["merge-base", commit.trim(), "HEAD"]).map(|base| base.trim().to_owned()).map_err(|why| {
        match why.is_empty() {
            true => format!("`{reference}` and the current commit have no common ancestor here"),
            false => why,
        }
    })
}

/// The files of a commit below a folder: their paths from `folder`, and their texts.
///
/// # Errors
///
/// What git prints.
pub fn files(folder: &Path, commit: &str, below: &str) -> Result<Vec<(String, String)>, String> {
    let paths = run(folder, &["ls-tree", "-r", "-z", "--name-only", commit, "--", &format!("{below}/")])?;
    let paths = paths.split('\0').filter(|path| !path.is_empty());
    paths.map(|path| Ok((path.to_owned(), run(folder, &["show", &format!("{commit}:./{path}")])?))).collect()
}

fn run(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(arguments).stdin(Stdio::null());
    let output = Child::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped())).and_then(Child::output);
    let output = output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "git is not installed".to_owned(),
        _ => format!("cannot run git: {error}"),
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr).trim().trim_start_matches("fatal: ").to_owned()),
    }
}
