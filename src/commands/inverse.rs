//! The inverse of what a command plans: files are removed as long as they are as they were scaffolded, and edits are undone.

use super::error::Refusal;
use opctl_edit::plan::{Change, Plan};
use opctl_edit::{Edit, EditError};
use opctl_model::project::Tree;

/// Inverts each change of `created`, but for the edits that are `needed` by something that stays, each with its file. Generated files are
/// left out: they follow from the source.
pub fn inverse(created: Plan, needed: &[(String, Edit)], tree: &Tree) -> anyhow::Result<Plan> {
    let mut plan = Plan::default();
    for (path, change) in created.changes {
        let change = match change {
            // As it was written, which may have been by an older opctl.
            Change::Scaffold(text) => Change::Remove(super::update::recorded(tree, &path)?.unwrap_or(text)),
            Change::Edit { base, edits } => {
                let Some(now) = tree.read(&path)? else { continue };
                let is_needed = |edit: &&Edit| needed.iter().any(|(other, needed)| (other, needed) == (&path, edit));
                let own = edits.iter().rev().filter(|edit| !is_needed(edit)).cloned();
                let undo = |edit| Edit::Undo { edit: Box::new(edit), base: base.clone() };
                let edits: Vec<Edit> = own.map(undo).collect();
                let undone = edits.iter().try_fold(now.clone(), |text, edit| edit.apply(&text));
                let undone = undone.map_err(|error| refusal(&path, error))?;
                match base {
                    Some(base) if base == undone => Change::Remove(now),
                    _ if undone == now => continue,
                    _ => Change::Edit { base: None, edits },
                }
            }
            _ => continue,
        };
        plan.changes.insert(path, change);
    }
    Ok(plan)
}

/// Adds the changes of a plan that was made for `between`: `tree` as the first plan leaves it.
pub fn then(plan: &mut Plan, next: Plan, tree: &Tree, between: &Tree) -> anyhow::Result<()> {
    for (path, change) in next.changes {
        let change = match (plan.changes.remove(&path), change) {
            (Some(Change::Edit { base, mut edits }), Change::Edit { edits: more, .. }) => {
                edits.extend(more);
                Change::Edit { base, edits }
            }
            // What is removed is as the first plan leaves it, which is not written.
            (Some(Change::Edit { .. }), Change::Remove(text)) if between.read(&path)?.as_ref() == Some(&text) => {
                Change::Remove(tree.read(&path)?.unwrap_or_default())
            }
            (_, change) => change,
        };
        plan.changes.insert(path, change);
    }
    Ok(())
}

/// One text instead of another.
pub fn replaced(before: String, after: String) -> Change {
    Change::Edit { base: None, edits: vec![Edit::Lines { before, after }] }
}

pub fn refusal(path: &str, error: EditError) -> Refusal {
    Refusal::new(format!("cannot edit `{path}`: {}", error.reason)).help(error.help)
}
