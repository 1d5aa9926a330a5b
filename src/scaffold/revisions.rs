//! The revisions of the templates, as `templates/CHANGES` lists them.

use std::iter;

/// A change of the templates that existing projects should get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    pub revision: u32,
    /// The file or folder, relative to the project's folder; `.` for many files.
    pub path: &'static str,
    /// The previous path of the file.
    pub from: Option<&'static str>,
    /// The file is no longer part of a project.
    pub is_dropped: bool,
    /// The reason for the change.
    pub why: &'static str,
}

static CHANGES: &str = include_str!("../../templates/CHANGES");

/// All changes, newest first.
///
/// # Panics
///
/// If a line of the list has a different format. A test reads the list.
pub fn reasons() -> impl Iterator<Item = Reason> {
    let mut lines = CHANGES.lines().skip_while(|line| !line.starts_with("digest ")).skip(2);
    iter::from_fn(move || {
        let mut parts = lines.next()?.splitn(3, "  ");
        let mut part = || parts.next().expect("a line has a revision, a path and a reason");
        let (revision, path, why) = (part(), part(), part());
        let revision = revision.parse().expect("a revision is a number");
        let (from, path) = path.split_once(" -> ").map_or((None, path), |(from, path)| (Some(from), path));
        Some(Reason { revision, path: path.trim_start_matches('-'), from, is_dropped: path.starts_with('-'), why })
    })
}

/// The newest revision.
pub fn newest() -> u32 {
    reasons().map(|reason| reason.revision).max().expect("there is a first revision")
}

impl Reason {
    /// `true` if the change affects this file.
    pub fn is_about(&self, path: &str) -> bool {
        self.path == "." || path.strip_prefix(self.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}
