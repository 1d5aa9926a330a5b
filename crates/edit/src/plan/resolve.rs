//! Turns a [`Plan`] and the files on disk into [`Step`]s.
//!
//! Detects conflicts. Has no side effects: the disk is two functions that read, so every mode (apply, diff, check,
//! dry run) gets the same result.

use std::collections::BTreeSet;

use super::vendor::{self, SUMS};
use super::{Change, Choice, Content, Plan, Step, Verdict};
use crate::{Edit, EditError, Merged};

/// Settings that influence steps, in addition to the plan and the disk.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The prefix of the first line in generated files. A file without it is the user's.
    pub header: &'static str,
    /// Paths of user's files that may be replaced, from `--overwrite`.
    pub overwrite: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError<E: std::error::Error + 'static> {
    #[error("{0}")]
    Read(#[source] E),
    /// An `--overwrite` without effect is probably a typo, and the intended file is still in conflict.
    #[error("cannot overwrite `{path}`: {reason}")]
    Overwrite { path: String, reason: &'static str },
}

/// Returns one step for each change, sorted by path. Files that are not text are read with `read_bytes`.
pub fn resolve<E: std::error::Error + 'static>(
    plan: &Plan,
    policy: &Policy,
    read: impl Fn(&str) -> Result<Option<String>, E>,
    read_bytes: impl Fn(&str) -> Result<Option<Vec<u8>>, E>,
) -> Result<Vec<Step>, ResolveError<E>> {
    let mut steps = Vec::with_capacity(plan.changes.len());
    for (path, change) in &plan.changes {
        if let Change::Copy { content, old } = change {
            let before = read_bytes(path).map_err(ResolveError::Read)?;
            let after = copy(path, before.as_ref(), content.as_ref(), old.as_ref());
            steps.push(step(path, before, after));
            continue;
        }
        let before = read(path).map_err(ResolveError::Read)?;
        let after = match change {
            Change::Scaffold(text) => scaffold(path, before.as_deref(), text),
            Change::Generate(text) => generate(path, before.as_deref(), text, policy),
            Change::Edit { base, edits } => edit(path, before.as_deref(), base.as_deref(), edits),
            Change::Prune => prune(before.as_deref(), policy),
            Change::Remove(written) => remove(path, before.as_deref(), written),
            Change::Vendor { folder, text, written } => {
                vendored(path, folder, before.as_deref(), text.as_deref(), written.as_deref())
            }
            Change::Merge { base, theirs, choice, moved } => {
                // An existing file at the new path is not the one that moves.
                let base = base.as_deref().filter(|_| moved.is_none() || before.is_none());
                let ours = before.as_deref().or(moved.as_deref());
                merge(path, base, ours, theirs.as_deref(), *choice)
            }
            Change::Rewrite { text: None, .. } => Outcome::After(before.clone()),
            Change::Rewrite { text: Some(text), is_new: true, .. } => scaffold(path, before.as_deref(), text),
            Change::Rewrite { text: Some(text), is_new: false, .. } => Outcome::After(Some(text.clone())),
            Change::Copy { .. } => unreachable!("it was resolved above"),
        };
        let mut step = step(path, before, after);
        if let Change::Vendor { folder, .. } = change {
            step.vendored = Some(folder.clone());
        }
        steps.push(step);
    }
    let overwritten: BTreeSet<&str> = policy.overwrite.iter().map(|path| path.trim_start_matches("./")).collect();
    for path in overwritten {
        overwrite(&mut steps, plan, path).map_err(|reason| ResolveError::Overwrite { path: path.into(), reason })?;
    }
    Ok(steps)
}

/// The content on disk afterwards; `None` for no file.
enum Outcome<T = String> {
    After(Option<T>),
    /// `wanted` is the content that would have been written.
    Conflict {
        reason: String,
        help: String,
        wanted: Option<T>,
    },
}

fn step<T: PartialEq + Into<Content>>(path: &str, before: Option<T>, outcome: Outcome<T>) -> Step {
    let (verdict, after) = match outcome {
        Outcome::Conflict { reason, help, wanted } => (Verdict::Conflict { reason, help }, wanted),
        Outcome::After(after) => {
            let verdict = match (&before, &after) {
                (None, Some(_)) => Verdict::Create,
                (Some(_), None) => Verdict::Remove,
                (before, after) if before == after => Verdict::Unchanged,
                _ => Verdict::Update,
            };
            (verdict, after)
        }
    };
    let (before, after) = (before.map(Into::into), after.map(Into::into));
    Step { path: path.into(), vendored: None, verdict, before, after }
}

type Bytes = Vec<u8>;

fn copy(path: &str, before: Option<&Bytes>, content: Option<&Bytes>, old: Option<&Bytes>) -> Outcome<Bytes> {
    match (before, content) {
        (Some(_), Some(content)) if before != Some(content) && before != old => {
            in_the_way(path, "it exists already with different content", content.clone())
        }
        (Some(_), None) if before != old => superfluous(path),
        _ => Outcome::After(content.cloned()),
    }
}

fn scaffold(path: &str, before: Option<&str>, text: &str) -> Outcome {
    let Some(before) = before else { return Outcome::After(Some(text.into())) };
    let text = with_encoding_of(before, text);
    if text == before {
        return Outcome::After(Some(text));
    }
    in_the_way(path, "it exists already with different text", text)
}

fn generate(path: &str, before: Option<&str>, text: &str, policy: &Policy) -> Outcome {
    let Some(before) = before else { return Outcome::After(Some(text.into())) };
    let text = with_encoding_of(before, text);
    if text == before || is_ours(before, policy) {
        return Outcome::After(Some(text));
    }
    in_the_way(path, "not ours: it does not start with the header of a generated file", text)
}

fn in_the_way<T>(path: &str, reason: &str, wanted: T) -> Outcome<T> {
    Outcome::Conflict {
        reason: reason.into(),
        help: format!(
            "compare with `--diff`, then replace all of it with `--overwrite {path}`, or move it away and run the command again"
        ),
        wanted: Some(wanted),
    }
}

fn edit(path: &str, before: Option<&str>, base: Option<&str>, edits: &[Edit]) -> Outcome {
    let Some(text) = before.or(base) else {
        return Outcome::Conflict {
            reason: "the file to edit does not exist".into(),
            help: "restore it, e.g. from version control, and run the command again".into(),
            wanted: None,
        };
    };
    let mut text = text.to_owned();
    let mut refused: Vec<EditError> = Vec::new();
    for edit in edits {
        match edit.apply(&text) {
            Ok(edited) => text = edited,
            Err(error) => refused.push(error),
        }
    }
    if refused.is_empty() {
        return Outcome::After(Some(text));
    }
    let joined = |parts: Vec<String>, between: &str| {
        let mut parts = parts;
        parts.dedup();
        parts.join(between)
    };
    let reason = |error: &EditError| match error.at {
        Some((line, column)) => format!("{path}:{line}:{column}: {}", error.reason),
        None => error.reason.clone(),
    };
    let forced = edits.iter().try_fold(before.unwrap_or_default().to_owned(), |text, edit| edit.force(&text)).ok();
    let forced = forced.filter(|forced| Some(&**forced) != before);
    let mut help: Vec<String> = refused.iter().map(|error| error.help.clone()).collect();
    if forced.is_some() {
        help.push(format!("or replace it anyway, with `--overwrite {path}`"));
    }
    Outcome::Conflict {
        reason: joined(refused.iter().map(reason).collect(), "; "),
        help: joined(help, "\n"),
        wanted: before.map(|before| forced.unwrap_or_else(|| before.to_owned())),
    }
}

fn prune(before: Option<&str>, policy: &Policy) -> Outcome {
    Outcome::After(before.filter(|before| !is_ours(before, policy)).map(str::to_owned))
}

fn remove(path: &str, before: Option<&str>, written: &str) -> Outcome {
    match before {
        Some(before) if vendor::checksum(before) != vendor::checksum(written) => superfluous(path),
        _ => Outcome::After(None),
    }
}

fn superfluous<T>(path: &str) -> Outcome<T> {
    Outcome::Conflict {
        reason: "it is no longer needed, but was edited".into(),
        help: format!(
            "remove it, with your edits, with `--overwrite {path}`, or move it away and run the command again"
        ),
        wanted: None,
    }
}

fn vendored(path: &str, folder: &str, before: Option<&str>, text: Option<&str>, written: Option<&str>) -> Outcome {
    let text = text.map(|text| before.map_or_else(|| text.to_owned(), |before| with_encoding_of(before, text)));
    let Some(before) = before else { return Outcome::After(text) };
    if text.as_deref() == Some(before) || written.is_some_and(|written| vendor::checksum(before) == written) {
        return Outcome::After(text);
    }
    let (reason, help) = match written {
        Some(_) => (
            format!("it was edited: its checksum is not the one in `{folder}/{SUMS}`"),
            format!(
                "drop the edit with `--overwrite {path}`, or delete `{folder}/{SUMS}` to keep the whole folder as your own"
            ),
        ),
        None => (
            format!("it exists already, and `{folder}/{SUMS}` does not list it"),
            format!("replace all of it with `--overwrite {path}`, or move it away and run the command again"),
        ),
    };
    Outcome::Conflict { reason, help, wanted: text }
}

/// Merges three texts: the one that opctl wrote, the user's, and the one of newer templates.
fn merge(path: &str, base: Option<&str>, ours: Option<&str>, theirs: Option<&str>, choice: Choice) -> Outcome {
    let keep = |text: Option<&str>| Outcome::After(text.map(str::to_owned));
    let (theirs, base) =
        (theirs.map(|text| ours.map_or_else(|| text.into(), |ours| with_encoding_of(ours, text))), base);
    let base = base.map(|text| ours.map_or_else(|| text.into(), |ours| with_encoding_of(ours, text)));
    let (base, theirs) = (base.as_deref(), theirs.as_deref());
    let decide = format!("`--ours {path}` keeps your file, `--theirs {path}` takes the new one; compare with `--diff`");
    let conflict = |reason: String, wanted: Option<&str>| Outcome::Conflict {
        reason,
        help: decide.clone(),
        wanted: wanted.map(str::to_owned),
    };
    match (base, ours, theirs, choice) {
        (_, _, _, Choice::Theirs) => keep(theirs),
        (_, _, _, Choice::Ours) => keep(ours),
        // A new file, or one that the user deleted.
        (None, None, theirs, _) => keep(theirs),
        (Some(_), None, ..) => keep(None),
        (base, Some(ours), theirs, _) if Some(ours) == base => keep(theirs),
        (base, Some(ours), theirs, _) if Some(ours) == theirs || base == theirs => keep(Some(ours)),
        (None, Some(_), theirs, _) => conflict("the scaffold has a new file of this name".into(), theirs),
        (Some(_), Some(_), None, _) => conflict("the scaffold no longer has it, but you edited it".into(), None),
        (Some(base), Some(ours), Some(theirs), choice) => match crate::merge(path, base, ours, theirs) {
            Merged::Clean(text) => Outcome::After(Some(text)),
            Merged::Conflict { marked, .. } if choice == Choice::Markers => Outcome::After(Some(marked)),
            Merged::Conflict { reason, .. } => {
                let help = format!("{decide}, or write both with `--conflicts markers`");
                Outcome::Conflict { reason, help, wanted: Some(theirs.into()) }
            }
        },
    }
}

/// Turns the conflict at `path` into an update. An error is the reason why there is nothing to overwrite.
fn overwrite(steps: &mut [Step], plan: &Plan, path: &str) -> Result<(), &'static str> {
    let step = steps.iter_mut().find(|step| step.path == path);
    let (Some(step), Some(change)) = (step, plan.changes.get(path)) else {
        return Err("this command does not write it; leave out `--overwrite` or fix the path");
    };
    if step.is_unchanged() {
        return Ok(());
    }
    if !step.is_conflict() {
        return Err("it does not conflict; leave out `--overwrite`");
    }
    match change {
        Change::Copy { content: None, .. } => step.verdict = Verdict::Remove,
        Change::Scaffold(_) | Change::Copy { .. } | Change::Generate(_) | Change::Rewrite { .. } => {
            step.verdict = Verdict::Update
        }
        Change::Remove(_) => step.verdict = Verdict::Remove,
        Change::Vendor { .. } if step.after.is_none() => step.verdict = Verdict::Remove,
        Change::Vendor { .. } => step.verdict = Verdict::Update,
        Change::Merge { .. } => return Err("to replace it, use `opctl update --theirs`"),
        // The edit is possible, and the conflict has listed what it drops.
        Change::Edit { .. } if step.after != step.before => step.verdict = Verdict::Update,
        Change::Edit { .. } | Change::Prune => return Err("it is edited, never replaced; make the edit by hand"),
    }
    Ok(())
}

fn is_ours(text: &str, policy: &Policy) -> bool {
    !policy.header.is_empty() && without_mark(text).starts_with(without_mark(policy.header))
}

/// A comment begins with `#` in YAML, `//` in Rust, `<!--` in Markdown, and is the first value in JSON.
fn without_mark(text: &str) -> &str {
    let text = text.strip_prefix("{\n  \"$comment\": \"").unwrap_or(text);
    text.trim_start_matches(['\u{feff}', '#', '/', '<', '!', '-', ' '])
}

/// Converts the text to CRLF and adds a byte order mark if the file on disk has them, as after a checkout by git on
/// Windows, so that both can be equal.
fn with_encoding_of(before: &str, text: &str) -> String {
    if let Some(before) = before.strip_prefix('\u{feff}') {
        return format!("\u{feff}{}", with_encoding_of(before, text));
    }
    if text == before {
        return before.into();
    }
    let unix = |text: &str| text.replace("\r\n", "\n");
    let text = unix(text);
    if text == unix(before) {
        before.into()
    } else if before.contains("\r\n") {
        text.replace('\n', "\r\n")
    } else {
        text
    }
}
