//! The record of a scaffold: the text of each user's file as opctl wrote it, with the revision of the templates.
//!
//! It is the common ancestor when a newer opctl merges its scaffold into edited files. Edits by opctl that are part of
//! the scaffold are recorded, too; other edits count as the user's.
//!
//! The record is one file. A line such as `7c0b1f52 2 src/main.rs` has a key, the revision and the path of a file, and
//! each line of its text follows as `7c0b1f52|fn main() {`. The key, which is computed from the path, makes the lines of
//! different files different. So if two branches add files, a merge that keeps the lines of both sides
//! (`merge=union` in `.gitattributes`) is right, in whatever order they come.

use std::collections::BTreeMap;

use super::{Change, Plan, Step, Verdict, checksum};

/// The folder of the record, relative to that of the project.
pub const RECORD: &str = ".opctl";

/// The record, relative to the folder of the project.
pub const RECORD_FILE: &str = ".opctl/scaffold.txt";

const HEADER: &str = "\
# The files of this project as opctl scaffolded them. Commit this file, and do not edit it: `opctl update` merges what is new in the
# scaffold into your files, and needs to know what you changed. If git reports a conflict here, keep the lines of both sides.
";

/// Follows the last line of a text that does not end with a line break.
const NO_LINE_BREAK: char = '\\';

/// The files of a scaffold by path, relative to the folder of the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    pub files: BTreeMap<String, Entry>,
    /// The files of a record by an earlier opctl, which had a folder for the texts: this record replaces them.
    former: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    pub text: String,
    /// The revision of the templates that rendered the text.
    pub revision: u32,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError<E: std::error::Error + 'static> {
    #[error(transparent)]
    Read(E),
    #[error("`{RECORD_FILE}`, line {line}: expected a key, a revision and a path, or a key and a line of that file")]
    Line { line: usize },
    #[error("`{RECORD_FILE}`, line {line}: a conflict that git left")]
    Conflict { line: usize },
    #[error("`{0}` is not as opctl wrote it")]
    Edited(String),
}

/// Properties of a scaffold for its record.
pub struct Scaffold<'a> {
    pub folder: &'a str,
    pub revision: u32,
    /// The project is new, so the record is created.
    pub starts: bool,
    /// `true` for files without a record, by path relative to the folder of the project.
    pub skips: fn(&str) -> bool,
}

impl Record {
    /// Reads the record of a project; `None` if there is none. `read` returns files by path from the folder of the
    /// project.
    pub fn read<E: std::error::Error>(
        read: impl Fn(&str) -> Result<Option<String>, E>,
    ) -> Result<Option<Self>, RecordError<E>> {
        let Some(text) = read(RECORD_FILE).map_err(RecordError::Read)? else { return Ok(None) };
        match former::is_list(&text) {
            true => former::read(&text, read).map(Some),
            false => Self::parse(&text).map(Some),
        }
    }

    /// The recorded text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|entry| entry.text.as_str())
    }

    /// An earlier opctl wrote the record, in several files.
    pub fn is_former(&self) -> bool {
        !self.former.is_empty()
    }

    fn parse<E: std::error::Error>(text: &str) -> Result<Self, RecordError<E>> {
        let mut files: BTreeMap<String, Entry> = BTreeMap::new();
        // The key and the path of the file whose lines follow.
        let mut current = ("", "");
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let number = number + 1;
            if ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].iter().any(|marker| line.starts_with(marker)) {
                return Err(RecordError::Conflict { line: number });
            }
            let parsed = (|| {
                let (key, rest) = (line.get(..KEY_LENGTH)?, line.get(KEY_LENGTH..)?);
                if let Some(header) = rest.strip_prefix(' ') {
                    let (revision, named) = header.split_once(' ')?;
                    let revision = revision.parse().ok().filter(|_| key == self::key(named))?;
                    current = (key, named);
                    // After a merge, a file may have two of these lines.
                    let entry = files.entry(named.to_owned()).or_insert(Entry { revision, ..Entry::default() });
                    entry.revision = entry.revision.min(revision);
                    return Some(());
                }
                let text = &mut files.get_mut(current.1).filter(|_| key == current.0)?.text;
                match rest.strip_prefix('|') {
                    Some(line) => text.extend([line, "\n"]),
                    None => _ = text.pop().filter(|_| rest.chars().eq([NO_LINE_BREAK]))?,
                }
                Some(())
            })();
            parsed.ok_or(RecordError::Line { line: number })?;
        }
        Ok(Self { files, former: BTreeMap::new() })
    }

    /// The record as a file.
    pub fn to_text(&self) -> String {
        let mut record = HEADER.to_owned();
        for (path, Entry { text, revision }) in &self.files {
            let key = key(path);
            record.push_str(&format!("{key} {revision} {path}\n"));
            for line in text.split_inclusive('\n') {
                record.extend([&key, "|", line]);
            }
            if !text.is_empty() && !text.ends_with('\n') {
                record.push_str(&format!("\n{key}{NO_LINE_BREAK}\n"));
            }
        }
        record
    }
}

const KEY_LENGTH: usize = 8;

fn key(path: &str) -> String {
    checksum(path)[..KEY_LENGTH].to_owned()
}

/// The record of earlier opctls: a list of checksums, and a folder with the texts.
mod former {
    use super::*;

    /// These files excluded the folder from searches, diffs and conversions of line endings.
    const BESIDE: [&str; 3] = [".opctl/.gitattributes", ".opctl/.ignore", ".opctl/README.md"];

    pub fn is_list(text: &str) -> bool {
        text.lines().next().and_then(entry).is_some()
    }

    /// A checksum, a revision and a path.
    fn entry(line: &str) -> Option<(&str, u32, &str)> {
        let mut parts = line.splitn(3, "  ");
        let checksum = parts.next().filter(|sum| sum.len() == 64)?;
        Some((checksum, parts.next()?.parse().ok()?, parts.next()?))
    }

    pub fn read<E: std::error::Error>(
        list: &str,
        read: impl Fn(&str) -> Result<Option<String>, E>,
    ) -> Result<Record, RecordError<E>> {
        let mut record = Record::default();
        for (number, line) in list.lines().enumerate() {
            let (sum, revision, path) = entry(line).ok_or(RecordError::Line { line: number + 1 })?;
            let base = format!("{RECORD}/base/{path}.base");
            match read(&base).map_err(RecordError::Read)? {
                Some(text) if checksum(&text) == sum => {
                    let entry = Entry { text: text.replace("\r\n", "\n"), revision };
                    record.files.insert(path.to_owned(), entry);
                    record.former.insert(base, text);
                }
                _ => return Err(RecordError::Edited(base)),
            }
        }
        for path in BESIDE {
            record.former.extend(read(path).map_err(RecordError::Read)?.map(|text| (path.to_owned(), text)));
        }
        Ok(record)
    }
}

impl Plan {
    /// `true` if the plan may contain changes to record.
    fn is_about_scaffolds(&self) -> bool {
        let is_generated =
            |change: &Change| matches!(change, Change::Generate(_) | Change::Prune | Change::Vendor { .. });
        !self.changes.values().all(is_generated)
    }

    /// The steps that update the record of a project after these `steps` of the plan. None without a record, unless
    /// `starts` is set.
    pub fn record<E: std::error::Error>(
        &self,
        steps: &[Step],
        Scaffold { folder, revision, starts, skips }: &Scaffold,
        read: impl Fn(&str) -> Result<Option<String>, E>,
    ) -> Result<Vec<Step>, RecordError<E>> {
        if !self.is_about_scaffolds() && !self.renews_record {
            return Ok(Vec::new());
        }
        let below = |path: &str| if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
        let read = |path: &str| read(&below(path));
        let starts = *starts || self.changes.values().any(|change| matches!(change, Change::Merge { .. }));
        let before = Record::read(read)?;
        let Some(mut record) = before.or(starts.then(Record::default)) else { return Ok(Vec::new()) };
        for step in steps.iter().filter(|step| !step.is_conflict()) {
            let own = step
                .path
                .strip_prefix(folder)
                .map(|path| if folder.is_empty() { Some(path) } else { path.strip_prefix('/') });
            let Some(path) = own.flatten().filter(|path| !skips(path)) else { continue };
            let Some(change) = self.changes.get(&step.path) else { continue };
            let before = record.files.get(path);
            let known = before.map(|entry| entry.revision);
            let (after, revision) = match change {
                Change::Scaffold(text) => (Some(text.clone()), *revision),
                Change::Merge { theirs, .. } => (theirs.clone(), *revision),
                Change::Rewrite { base: None, .. } => continue,
                Change::Rewrite { base, .. } => (base.clone(), known.unwrap_or(*revision)),
                Change::Remove(_) => (None, *revision),
                Change::Edit { base, edits } => {
                    let is_scaffolded = edits.iter().any(crate::Edit::is_scaffolded);
                    let new = base.clone().filter(|_| step.before.is_none() && is_scaffolded);
                    let Some(text) = before.map(|entry| entry.text.clone()).or(new) else { continue };
                    // An edit that does not apply to the record counts as the user's: merges treat it as the same
                    // change on both sides.
                    let edit = |text: String, edit: &crate::Edit| edit.apply(&text).unwrap_or(text);
                    let edits = edits.iter().filter(|edit| edit.is_scaffolded());
                    (Some(edits.fold(text, edit)), known.unwrap_or(*revision))
                }
                Change::Copy { .. } | Change::Generate(_) | Change::Prune | Change::Vendor { .. } => continue,
            };
            match after.map(|text| text.replace("\r\n", "\n")) {
                Some(text) => _ = record.files.insert(path.into(), Entry { text, revision }),
                None => _ = record.files.remove(path),
            };
        }
        let step = |path: &str, before: Option<String>, after: Option<String>| {
            let verdict = match (&before, &after) {
                (None, _) => Verdict::Create,
                (_, None) => Verdict::Remove,
                (before, after) if before == after => return None,
                _ => Verdict::Update,
            };
            let (before, after) = (before.map(Into::into), after.map(Into::into));
            Some(Step { path: below(path), vendored: Some(below(RECORD)), verdict, before, after })
        };
        let before = read(RECORD_FILE).map_err(RecordError::Read)?;
        // A checkout on Windows may have converted the line endings.
        let after = record.to_text();
        let is_same = before.as_ref().is_some_and(|before| checksum(before) == checksum(&after));
        let own = (!is_same).then(|| step(RECORD_FILE, before, Some(after))).flatten();
        let former = record.former.iter().filter_map(|(path, text)| step(path, Some(text.clone()), None));
        Ok(own.into_iter().chain(former).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn record(files: &[(&str, &str)]) -> Record {
        let entry = |text: &str| Entry { text: text.to_owned(), revision: 2 };
        Record {
            files: files.iter().map(|(path, text)| ((*path).to_owned(), entry(text))).collect(),
            ..Record::default()
        }
    }

    fn parse(text: &str) -> Result<Record, RecordError<Infallible>> {
        Record::parse(text)
    }

    #[test]
    fn any_text_is_recorded() {
        let texts = ["", "\n", "a", "a\n", "a\n\nb", "<<<<<<< a\n# b\n|\n", "\\", "  \n\t"];
        let files: Vec<(String, &str)> =
            texts.iter().enumerate().map(|(n, text)| (format!("a {n}/b"), *text)).collect();
        let record = record(&files.iter().map(|(path, text)| (path.as_str(), *text)).collect::<Vec<_>>());
        let text = record.to_text();
        assert_eq!(parse(&text).unwrap(), record, "{text}");
        assert_eq!(parse(&text.replace('\n', "\r\n")).unwrap(), record, "as git checks it out on Windows");
    }

    #[test]
    fn the_lines_of_both_sides_of_a_merge_are_a_record() {
        let (a, b) = (record(&[("a", "1\n2\n")]), record(&[("b", "1\n3\n")]));
        let both = format!("{}{}", a.to_text(), b.to_text().replace(HEADER, ""));
        assert_eq!(parse(&both).unwrap(), record(&[("a", "1\n2\n"), ("b", "1\n3\n")]));
    }

    #[test]
    fn what_opctl_did_not_write_is_refused_with_its_line() {
        let text = record(&[("a", "1\n")]).to_text();
        let line = text.lines().count() + 1;
        for added in ["0123", "ä", "01234567|of no file", "01234567 2 a", &format!("{} x a", key("a"))] {
            assert_eq!(parse(&format!("{text}{added}\n")), Err(RecordError::Line { line }), "{added}");
        }
        assert_eq!(parse(&format!("{text}<<<<<<< HEAD\n")), Err(RecordError::Conflict { line }));
    }
}
