//! The record of a scaffold: the text of each user's file as opctl wrote it, with its checksum and the revision of the
//! templates.
//!
//! It is the common ancestor when a newer opctl merges its scaffold into edited files. Edits by opctl that are part of
//! the scaffold are recorded, too; other edits count as the user's. The files have names that no other tool recognizes:
//! a `Cargo.toml` here would be a package, a `.gitignore` would be applied.

use std::collections::BTreeMap;

use super::{Change, Plan, Step, Verdict, checksum};

/// The folder of the record, relative to that of the project.
pub const RECORD: &str = ".opctl";

/// The list of files, relative to the folder of the project. A project without it has no record.
pub const LIST: &str = ".opctl/scaffold.txt";

/// Further files in the folder. They exclude it from searches, diffs and conversions of line endings.
const BESIDE: [(&str, &str); 3] = [
    (".opctl/.gitattributes", "* -text -diff linguist-generated\n"),
    (".opctl/.ignore", "*\n"),
    (
        ".opctl/README.md",
        "These are the files of this project as opctl scaffolded them. Commit this folder, and do not edit it: `opctl update` merges what is\n\
         new in the scaffold of another opctl into your files, and needs to know what you changed.\n",
    ),
];

/// The files of a scaffold by path, relative to the folder of the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record(pub BTreeMap<String, Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Checksum of the recorded text, computed by [`checksum`].
    pub checksum: String,
    /// The revision of the templates that rendered the text.
    pub revision: u32,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError<E: std::error::Error + 'static> {
    #[error(transparent)]
    Read(E),
    #[error("`{LIST}`, line {line}: expected a checksum, a revision and a path")]
    List { line: usize },
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

/// The path of a text in the record.
pub fn recorded(path: &str) -> String {
    format!("{RECORD}/base/{path}.base")
}

impl Record {
    /// Reads the record of a project; `None` if there is none. `read` returns files by path from the folder of the
    /// project.
    pub fn read<E: std::error::Error>(
        read: impl Fn(&str) -> Result<Option<String>, E>,
    ) -> Result<Option<Self>, RecordError<E>> {
        let Some(text) = read(LIST).map_err(RecordError::Read)? else { return Ok(None) };
        let entry = |(number, line): (usize, &str)| {
            let mut parts = line.splitn(3, "  ");
            let entry = (|| {
                let checksum = parts.next().filter(|sum| sum.len() == 64)?.to_owned();
                let revision = parts.next()?.parse().ok()?;
                Some((parts.next()?.to_owned(), Entry { checksum, revision }))
            })();
            entry.ok_or(RecordError::List { line: number + 1 })
        };
        Ok(Some(Self(text.lines().enumerate().map(entry).collect::<Result<_, _>>()?)))
    }

    /// The recorded text of a file.
    pub fn text<E: std::error::Error>(
        &self,
        path: &str,
        read: impl Fn(&str) -> Result<Option<String>, E>,
    ) -> Result<Option<String>, RecordError<E>> {
        let Some(entry) = self.0.get(path) else { return Ok(None) };
        let recorded = recorded(path);
        match read(&recorded).map_err(RecordError::Read)? {
            Some(text) if checksum(&text) == entry.checksum => Ok(Some(text)),
            _ => Err(RecordError::Edited(recorded)),
        }
    }

    fn list(&self) -> String {
        self.0.iter().map(|(path, Entry { checksum, revision })| format!("{checksum}  {revision}  {path}\n")).collect()
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
        if !self.is_about_scaffolds() {
            return Ok(Vec::new());
        }
        let below = |path: &str| if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
        let read = |path: &str| read(&below(path));
        let starts = *starts || self.changes.values().any(|change| matches!(change, Change::Merge { .. }));
        let before = Record::read(read)?;
        let Some(mut record) = before.clone().or(starts.then(Record::default)) else { return Ok(Vec::new()) };
        let mut kept = Vec::new();
        let mut keep = |path: String, before: Option<String>, after: Option<String>| {
            let verdict = match (&before, &after) {
                (None, Some(_)) => Verdict::Create,
                (Some(_), None) => Verdict::Remove,
                (before, after) if before == after => return,
                _ => Verdict::Update,
            };
            let (before, after) = (before.map(Into::into), after.map(Into::into));
            kept.push(Step { path: below(&path), vendored: Some(below(RECORD)), verdict, before, after });
        };
        for step in steps.iter().filter(|step| !step.is_conflict()) {
            let own = step
                .path
                .strip_prefix(folder)
                .map(|path| if folder.is_empty() { Some(path) } else { path.strip_prefix('/') });
            let Some(path) = own.flatten().filter(|path| !skips(path)) else { continue };
            let Some(change) = self.changes.get(&step.path) else { continue };
            let before = record.text(path, read)?;
            let known = record.0.get(path).map(|entry| entry.revision);
            let (after, revision) = match change {
                Change::Scaffold(text) => (Some(text.clone()), *revision),
                Change::Merge { theirs, .. } => (theirs.clone(), *revision),
                Change::Rewrite { base: None, .. } => continue,
                Change::Rewrite { base, .. } => (base.clone(), known.unwrap_or(*revision)),
                Change::Remove(_) => (None, *revision),
                Change::Edit { base, edits } => {
                    let is_scaffolded = edits.iter().any(crate::Edit::is_scaffolded);
                    let new = base.clone().filter(|_| step.before.is_none() && is_scaffolded);
                    let Some(text) = before.clone().or(new) else { continue };
                    // An edit that does not apply to the record counts as the user's: merges treat it as the same
                    // change on both sides.
                    let edit = |text: String, edit: &crate::Edit| edit.apply(&text).unwrap_or(text);
                    let edits = edits.iter().filter(|edit| edit.is_scaffolded());
                    (Some(edits.fold(text, edit)), known.unwrap_or(*revision))
                }
                Change::Copy { .. } | Change::Generate(_) | Change::Prune | Change::Vendor { .. } => continue,
            };
            let after = after.map(|text| text.replace("\r\n", "\n"));
            match &after {
                Some(text) => record.0.insert(path.into(), Entry { checksum: checksum(text), revision }),
                None => record.0.remove(path),
            };
            keep(recorded(path), before, after);
        }
        keep(LIST.into(), before.map(|before| before.list()), Some(record.list()));
        for (path, text) in BESIDE.into_iter().filter(|_| starts) {
            let before = read(path).map_err(RecordError::Read)?;
            keep(path.into(), before, Some(text.into()));
        }
        Ok(kept)
    }
}
