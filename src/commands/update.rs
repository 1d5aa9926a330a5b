//! `opctl update`: merges changes of the templates into the files of a project.
//!
//! The record of the scaffold contains each file as opctl wrote it, so this is a three-way merge of that text, the
//! user's, and the rendering of the current templates with the same settings.

use std::collections::BTreeMap;

use clap::Args;

use super::{Console, Next, Outcome, Task, carry_out, lock, project_folder, runtime, tree, workspace_above};
use crate::api::record::{texts, without_fixes};
use crate::api::rescaffold::{self, Texts};
use crate::error::{UserError, UserErrors};
use crate::scaffold::revisions::Reason;
use crate::scaffold::{self, Runtime, RuntimeCopy};
use opctl_edit as edit;
use opctl_edit::plan::{self, Change, Choice, Mode, Plan, RECORD_FILE, Record};
use opctl_model::project::{PROJECT, ProjectFile, Tree};

/// Update what opctl scaffolded to the templates of this opctl
///
/// Merges the changes of the templates into your files, and replaces `runtime/`. What you changed stays; where you and
/// the templates changed the same lines, nothing is written until you decide. Files that you deleted stay deleted.
#[derive(Args, Debug, Default)]
#[command(after_help = "\
Examples:
  # List what would change, then show how
  opctl update --dry-run
  opctl update --diff

  # Keep your Makefile, take the new Dockerfile
  opctl update --ours Makefile --theirs Dockerfile

  # Write both texts where you and the templates changed the same, to resolve them in an editor
  opctl update --conflicts markers

  # In CI: fail if the project is behind
  opctl update --check")]
pub struct UpdateArgs {
    /// Keep your file, whatever changed in its template (repeatable)
    #[arg(long, value_name = "PATH")]
    pub ours: Vec<String>,

    /// Replace your file by the new one; brings back a file that you deleted (repeatable)
    #[arg(long, visible_alias = "restore", value_name = "PATH")]
    pub theirs: Vec<String>,

    /// Leave out a file or folder, until a later update (repeatable)
    #[arg(long, value_name = "PATH")]
    pub skip: Vec<String>,

    /// The result where you and the templates changed the same lines
    #[arg(long, value_name = "HOW", default_value = "refuse")]
    pub conflicts: Conflicts,

    /// Start the record of a project that has none: your files count as edits of today's scaffold, and stay as they are
    #[arg(long)]
    pub adopt: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Conflicts {
    /// Write nothing, and list the conflicts
    #[default]
    Refuse,
    /// Write both texts, between `<<<<<<<` and `>>>>>>>`
    Markers,
}

/// `true` for scaffolded files without a record: PROJECT is maintained by opctl, and charts, roles and playbooks do not
/// change with the templates.
pub fn has_no_record(path: &str) -> bool {
    path == PROJECT || ["helm-charts/", "roles/", "playbooks/"].iter().any(|folder| path.starts_with(folder))
}

pub fn run(args: &UpdateArgs, console: &Console) -> anyhow::Result<Outcome> {
    let dir = project_folder()?;
    let workspace = workspace_above(&dir)?;
    let root = workspace.as_deref().unwrap_or(&dir);
    let _lock = lock(root, console)?;
    let (project, tree) = (tree(&dir), tree(root));
    let folder = super::init::relative(root, &dir)?;
    let file = ProjectFile::read(&project)?;
    let recorded = texts(&project)?;
    let own = match (&recorded, args.adopt) {
        (None, false) => {
            return Err(UserError::new(format!("the project has no `{RECORD_FILE}`, so it is not known what you changed"))
                .help("restore `.opctl` from version control, if it was there")
                .help("start a record with `opctl update --adopt`: your files stay as they are, and later updates are merged into them")
                .into());
        }
        (Some(_), true) => {
            return Err(UserError::new("the project has a record already").help("leave out `--adopt`").into());
        }
        (Some((record, texts)), false) => update(args, record, texts, &file, &project, console)?,
        (None, true) => adopt(&file, &project, console)?,
    };
    let mut plan = super::init::moved(own, &folder);
    if let Some((record, _)) = &recorded {
        plan.renews_record = record.is_former();
        add_runtime(&mut plan, &tree, &folder, console)?;
        reasons(&plan, record, &folder, console);
    }
    let next = vec![
        Next::new("opctl manifests", "generates the manifests again"),
        Next::new("make test", "builds it and runs its tests"),
    ];
    let merged: Vec<String> = plan.changes.keys().cloned().collect();
    let task = Task { again: "run `opctl update`", tree: &tree, folder: &folder, plan, next };
    let outcome = carry_out(&task, console)?;
    match console.mode {
        Mode::Apply => refuse_markers(&merged, &tree).map(|()| outcome).or_else(|marked| {
            marked.0.iter().for_each(|refusal| console.error(refusal));
            Ok(Outcome::Drift)
        }),
        Mode::DryRun | Mode::Diff | Mode::Check => Ok(outcome),
    }
}

/// Refuses files with conflict markers.
fn refuse_markers(paths: &[String], tree: &Tree) -> Result<(), UserErrors> {
    let mut refusals = UserErrors::default();
    for path in paths {
        if let Some(line) = tree.read(path).ok().flatten().as_deref().and_then(edit::marker) {
            refusals.push(UserError::new(format!("`{path}:{line}` has a conflict")).help(
                "keep your lines, which come first, or the new ones, which come last, or both; and remove the markers",
            ));
        }
    }
    refusals.settle()
}

/// Merges the differences between the record and the current templates.
fn update(
    args: &UpdateArgs,
    record: &Record,
    recorded: &Texts,
    file: &ProjectFile,
    tree: &Tree,
    console: &Console,
) -> anyhow::Result<Plan> {
    refuse_markers(&recorded.keys().cloned().collect::<Vec<_>>(), tree)?;
    let mut refusals = UserErrors::default();
    let mut recorded = recorded.clone();
    let moves = follow_moves(&mut recorded, scaffold::revisions::reasons());
    let new = rescaffold::files(file, &recorded, tree)?;
    without_fixes(record, &mut recorded, &new);
    let plain = |paths: &[String]| -> Vec<String> {
        paths.iter().map(|path| path.trim_start_matches("./").to_owned()).collect()
    };
    let (ours, theirs) = (plain(&args.ours), plain(&args.theirs));
    for (path, flag) in ours.iter().map(|path| (path, "--ours")).chain(theirs.iter().map(|path| (path, "--theirs"))) {
        if !new.contains_key(path) {
            let refusal = UserError::new(format!("`{flag} {path}`: the scaffold of this project has no such file"));
            refusals.push(refusal.help(format!("`{RECORD_FILE}` lists its files")));
        } else if ours.contains(path) && theirs.contains(path) && flag == "--theirs" {
            refusals.push(
                UserError::new(format!("`{path}` is given with `--ours` and `--theirs`"))
                    .help("leave out one of the two"),
            );
        }
    }
    refusals.settle()?;
    let mut plan = Plan::default();
    let is_skipped = |path: &str| plain(&args.skip).iter().any(|skipped| is_below(path, skipped));
    for (path, theirs_text) in new.into_iter().filter(|(path, _)| !is_skipped(path)) {
        let base = recorded.get(&path).cloned();
        let is_dropped = scaffold::revisions::reasons().any(|reason| reason.is_dropped && reason.path == path);
        let text = Some(theirs_text).filter(|_| !is_dropped);
        let choice = match args.conflicts {
            _ if ours.contains(&path) => Choice::Ours,
            _ if theirs.contains(&path) => Choice::Theirs,
            Conflicts::Markers => Choice::Markers,
            Conflicts::Refuse => Choice::Merge,
        };
        let from = moves.get(&path);
        if base == text && choice != Choice::Theirs && from.is_none() {
            continue;
        }
        let is_kept = super::init::KEPT.contains(&path.as_str());
        if base.is_none() && is_kept && tree.has(&path) {
            continue;
        }
        let own_path = from.filter(|_| !tree.has(&path)).unwrap_or(&path);
        if base.is_some() && choice != Choice::Theirs && !tree.has(own_path) {
            console
                .note(&format!("`{path}` is new in the scaffold, and you deleted it; `--theirs {path}` restores it"));
        }
        let moved = match from {
            Some(from) => {
                let own = tree.read(from)?;
                plan.changes.insert(from.clone(), Change::Remove(own.clone().unwrap_or_default()));
                own
            }
            None => None,
        };
        plan.changes.insert(path, Change::Merge { base, theirs: text, choice, moved });
    }
    Ok(plan)
}

/// Moves recorded texts to the current paths of their files. Returns the old paths by the new ones.
fn follow_moves(recorded: &mut Texts, reasons: impl Iterator<Item = Reason>) -> BTreeMap<String, String> {
    let mut moves = BTreeMap::new();
    let mut reasons: Vec<Reason> = reasons.collect();
    reasons.sort_by_key(|reason| reason.revision);
    for reason in reasons {
        let Some(from) = reason.from.filter(|_| !recorded.contains_key(reason.path)) else { continue };
        if let Some(text) = recorded.remove(from) {
            recorded.insert(reason.path.to_owned(), text);
            let first = moves.remove(from).unwrap_or_else(|| from.to_owned());
            moves.insert(reason.path.to_owned(), first);
        }
    }
    moves
}

/// `true` if `path` is equal to `folder` or below it.
fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Creates a record in which each file equals the rendering of the current templates.
fn adopt(file: &ProjectFile, tree: &Tree, console: &Console) -> anyhow::Result<Plan> {
    let mut plan = Plan::default();
    let mut edited = Vec::new();
    for (path, text) in rescaffold::files(file, &Texts::new(), tree)? {
        match tree.read(&path)? {
            None => edited.push(format!("{path} (deleted)")),
            Some(own) if plan::checksum(&own) != plan::checksum(&text) => edited.push(path.clone()),
            Some(_) => {}
        }
        plan.changes.insert(
            path,
            Change::Merge { base: Some(text.clone()), theirs: Some(text), choice: Choice::Merge, moved: None },
        );
    }
    if !edited.is_empty() {
        let list: String = edited.iter().map(|path| format!("\n  {path}")).collect();
        console.note(&format!("these files count as edited, because they differ from today's scaffold:{list}"));
    }
    Ok(plan)
}

/// Updates the copy of the runtime, unless it is newer or belongs to the user.
fn add_runtime(plan: &mut Plan, tree: &Tree, folder: &str, console: &Console) -> anyhow::Result<()> {
    let copy = RuntimeCopy::read(tree, Runtime::FOLDER)?;
    if let Some(copy) = copy.filter(|copy| copy.sums.is_some() && !copy.is_newer()) {
        let planned = runtime::with_manifests(plan, tree, folder, console)?;
        let used = Runtime::embedded().needed_features(planned.as_ref().unwrap_or(tree), folder)?;
        RuntimeCopy::update(plan, Runtime::FOLDER, copy.sums.as_deref(), &used);
    }
    Ok(())
}

/// Prints the reasons for the changes.
fn reasons(plan: &Plan, record: &Record, folder: &str, console: &Console) {
    for reason in scaffold::revisions::reasons() {
        let is_new = |path: &&String| {
            let path = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
            reason.is_about(path) && record.files.get(path).is_none_or(|entry| entry.revision < reason.revision)
        };
        let mut merged = plan.changes.iter().filter(|(_, change)| matches!(change, Change::Merge { .. }));
        if merged.any(|(path, _)| is_new(&path)) {
            console.note(&format!("revision {}, `{}`: {}", reason.revision, reason.path, reason.why));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_keep_their_record_when_they_move_twice() {
        let moved = |revision, from, path| Reason { revision, path, from: Some(from), is_dropped: false, why: "" };
        let mut recorded: Texts = [("a", "A"), ("other", "")].map(|(path, text)| (path.into(), text.into())).into();
        let moves = follow_moves(&mut recorded, [moved(3, "b", "c"), moved(2, "a", "b")].into_iter());
        assert_eq!(moves, BTreeMap::from([("c".into(), "a".into())]));
        assert_eq!(recorded.keys().collect::<Vec<_>>(), ["c", "other"]);
        // An earlier update already did this.
        assert!(follow_moves(&mut recorded, [moved(3, "b", "c"), moved(2, "a", "b")].into_iter()).is_empty());
    }
}
