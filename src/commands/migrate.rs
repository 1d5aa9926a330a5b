//! `opctl migrate`: rewrites stored objects in the storage version, verifies them, and removes old versions from
//! `status.storedVersions`.

use std::time::Duration;

use clap::Args;

use super::kubectl::ContextArgs;
use super::on_cluster::Cluster;
use super::{Console, Outcome, counted, project_folder, tree};
use crate::error::{ExternalError, UserError, UserErrors};
use crate::rendered;
use opctl_cluster::{
    Deadline, FailureCause, Kubectl, KubectlError, Migration, MigrationState, Storage, VersionMigration, is_passing,
};
use opctl_edit::plan::Mode;
use opctl_schema::compat;

/// Rewrite stored objects in the storage version, and remove old versions from the CRD's status
///
/// A CRD must keep each version in which objects may be stored (`status.storedVersions`). This command rewrites all
/// objects in the storage version of the CRD in the cluster, verifies that each of them is stored in it, and only then
/// removes the other versions from the list. If it is interrupted, run it again: it continues, and does not write the
/// same objects again.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # The CRDs of the project: show what is to be migrated, ask, and migrate it
  opctl migrate

  # Show it only
  opctl migrate --dry-run

  # Exit 1 if old versions are still stored
  opctl migrate --check

  # Any CRD, in a script
  opctl migrate memcacheds.cache.example.com --yes")]
pub struct MigrateArgs {
    /// CRDs, by kind or name [default: all CRDs of the project]
    #[arg(value_name = "CRD")]
    pub crds: Vec<String>,

    #[command(flatten)]
    pub context: ContextArgs,

    /// Migrate without asking for confirmation
    #[arg(short, long)]
    pub yes: bool,

    /// Migrate even if the storage version lacks fields of an old version, and no webhook converts them
    #[arg(long)]
    pub allow_loss: bool,
}

pub fn run(args: &MigrateArgs, console: &Console) -> anyhow::Result<Outcome> {
    if console.mode == Mode::Diff || !console.overwrite.is_empty() {
        return Err(UserError::new(
            "`--diff` and `--overwrite` are for commands that write files, and `opctl migrate` writes none",
        )
        .help("`opctl migrate --dry-run` shows what would be migrated")
        .into());
    }
    let kubectl = args.context.kubectl();
    let names = names(&args.crds, &kubectl)?;
    let cluster = Cluster::with(kubectl, console);
    cluster.connect()?;
    let found = Storage::all(&cluster.kubectl, &names).map_err(|error| cluster.failure("read the CRDs", &error))?;
    let mut missing = names.iter().filter(|name| !found.iter().any(|storage| storage.crd == **name)).peekable();
    if !args.crds.is_empty() && missing.peek().is_some() {
        let missing: Vec<String> = missing.map(|name| format!("`{name}`")).collect();
        let refusal = UserError::new(format!("not in the cluster: {}", missing.join(", ")));
        return Err(ExternalError(refusal.help("`kubectl get crd` lists the CRDs of the cluster")).into());
    }
    missing.for_each(|name| console.info(&format!("{name}: not in the cluster")));
    let (pending, current): (Vec<_>, Vec<_>) = found.into_iter().partition(|storage| !storage.old().is_empty());
    for storage in &current {
        console.info(&format!("{}: all objects are stored as {}", storage.crd, storage.version));
    }
    if pending.is_empty() {
        return Ok(Outcome::Done);
    }
    pending
        .iter()
        .fold(UserErrors::default(), |refusals, storage| possible(storage, args.allow_loss, refusals))
        .settle()?;
    announce(&pending, &cluster)?;
    match console.mode {
        Mode::Check => return Ok(Outcome::Drift),
        Mode::DryRun => {
            console.info("nothing was written, because of `--dry-run`");
            return Ok(Outcome::Done);
        }
        Mode::Apply | Mode::Diff => {}
    }
    if !args.yes && !console.can_ask() {
        let refusal = UserError::new("refusing to migrate without confirmation: not a terminal");
        return Err(ExternalError(refusal.help("`--yes` migrates them; `--dry-run` only shows this list")).into());
    }
    if !args.yes
        && !console.ask_no(
            "rewrite these objects?",
            "each is read and written back unchanged, which stores it in the new version",
        )?
    {
        console.info("nothing was rewritten");
        return Ok(Outcome::Problems);
    }
    for storage in &pending {
        migrate(storage, &cluster)?;
    }
    Ok(Outcome::Done)
}

/// The names of the requested CRDs. A project is required only to look up kinds, and for all CRDs.
fn names(asked: &[String], kubectl: &Kubectl) -> anyhow::Result<Vec<String>> {
    if !asked.is_empty() && asked.iter().all(|name| name.contains('.')) {
        return Ok(asked.to_vec());
    }
    let crds = rendered::crds(&tree(&project_folder()?), kubectl)?;
    if asked.is_empty() {
        return Ok(crds.into_iter().map(|crd| crd.name).collect());
    }
    let mut refusals = UserErrors::default();
    let mut names = Vec::new();
    for asked in asked {
        let is_of_kind = |kind: &str| kind.eq_ignore_ascii_case(asked);
        let of_kind = crds.iter().filter(|crd| crd.defines.as_ref().is_some_and(|(_, kind)| is_of_kind(kind)));
        let of_kind: Vec<String> = of_kind.map(|crd| crd.name.clone()).collect();
        if asked.contains('.') {
            names.push(asked.clone());
        } else if of_kind.is_empty() {
            let kinds: Vec<&str> = crds.iter().filter_map(|crd| Some(crd.defines.as_ref()?.1.as_str())).collect();
            refusals.push(
                UserError::new(format!("the project has no CRD of the kind `{asked}`"))
                    .help(format!("it has {}; the CRD of another project: `PLURAL.GROUP`", kinds.join(", "))),
            );
        }
        names.extend(of_kind);
    }
    refusals.settle()?;
    Ok(names)
}

/// Adds the reasons why a CRD cannot be migrated to `refusals`.
fn possible(storage: &Storage, allow_loss: bool, mut refusals: UserErrors) -> UserErrors {
    let crd = &storage.crd;
    if storage.is_terminating {
        refusals.push(
            UserError::new(format!("`{crd}` is being deleted, with all of its objects"))
                .help(format!("see which objects are left: `kubectl get {crd} --all-namespaces`")),
        );
    }
    if !storage.is_served() {
        refusals.push(
            UserError::new(format!("`{crd}` serves no version, so its objects can be neither read nor written"))
                .help("serve the storage version: remove `served = false` from its type, and run `opctl install`"),
        );
    }
    if storage.has_conversion() || allow_loss {
        return refusals;
    }
    for version in storage.old() {
        let lost = compat::pruned_fields(&storage.spec, version);
        if !lost.is_empty() {
            let (fields, storage) = (lost.join("`, `"), &storage.version);
            refusals.push(
                UserError::new(format!(
                    "objects of `{crd}` that are stored as {version} would lose `{fields}`: {storage} does not have that, and no \
                     webhook converts them"
                ))
                .help("`opctl create webhook --conversion` creates a conversion webhook; or add the fields to the storage version")
                .help("if these values are not needed: `opctl migrate --allow-loss`"),
            );
        }
    }
    refusals
}

fn announce(pending: &[Storage], cluster: &Cluster) -> anyhow::Result<()> {
    let width = pending.iter().map(|storage| storage.crd.len()).max().unwrap_or_default();
    let mut text = String::from("to be migrated:\n");
    for storage in pending {
        let count = storage.count(&cluster.kubectl);
        let count =
            count.map_err(|error| cluster.failure(&format!("read the objects of `{}`", storage.crd), &error))?;
        let (old, new) = (storage.old().join(", "), &storage.version);
        text.push_str(&format!(
            "  {:width$}  {} stored as {old} or {new} → {new}\n",
            storage.crd,
            counted(count, "object")
        ));
    }
    cluster.console.eprint(&text);
    Ok(())
}

/// The time limit for the controller manager to start a migration.
const START: Duration = Duration::from_secs(30);
/// The time limit for the API server to respond again.
const PATIENCE: Duration = Duration::from_secs(120);
/// The maximum number of consecutive empty patches that change an object.
const REWRITES: usize = 10;
/// The maximum number of consecutive passes over all objects without progress.
const FRUITLESS: usize = 10;
/// The maximum number of objects in a message.
const SHOWN: usize = 5;

fn migrate(storage: &Storage, cluster: &Cluster) -> anyhow::Result<()> {
    let (kubectl, console, crd) = (&cluster.kubectl, cluster.console, &storage.crd);
    let by_cluster = rewritten_by_cluster(storage, cluster)?;
    let mut migration = Migration::default();
    let mut progress = console.progress();
    let (mut fruitless, mut rewritten, mut unreachable) = (0, 0, None);
    loop {
        let word = if rewritten > 0 || by_cluster { "verifying" } else { "rewriting" };
        let sweep = migration.sweep(kubectl, storage, |done, total| progress.show(&bar(word, crd, done, total)));
        let sweep = match sweep {
            Ok(sweep) => sweep,
            // API servers are restarted while the control plane is in use.
            Err(error) if is_passing(&error) => {
                let deadline = unreachable.get_or_insert_with(|| Deadline::after(PATIENCE));
                if deadline.has_passed() {
                    return Err(resumable(cluster, storage, &error));
                }
                progress.show(&format!("{crd}: waiting for the API server"));
                deadline.pause();
                continue;
            }
            Err(error) => return Err(resumable(cluster, storage, &error)),
        };
        unreachable = None;
        rewritten += sweep.rewritten;
        if !sweep.failures.is_empty() {
            return Err(ExternalError(refused(crd, &sweep.failures)).into());
        }
        if sweep.rewritten + sweep.unanswered == 0 {
            break;
        }
        let restless = migration.rewritten(REWRITES);
        if !restless.is_empty() {
            return Err(ExternalError(changes_always(crd, &restless)).into());
        }
        fruitless = if sweep.verified + sweep.rewritten > 0 { 0 } else { fruitless + 1 };
        if fruitless == FRUITLESS {
            let why = sweep.disturbance.unwrap_or_else(|| "the API server has too much to do".into());
            let message = format!("cannot update {} of `{crd}`: {why}", counted(sweep.unanswered, "object"));
            let help = "`storedVersions` was not changed; run `opctl migrate` again to continue";
            return Err(ExternalError(UserError::new(message).help(help)).into());
        }
        if fruitless > 0 {
            Deadline::after(PATIENCE).pause();
        }
    }
    drop(progress);
    let verified = counted(migration.verified(), "object");
    console.info(&match by_cluster {
        true => format!("{crd}: verified {verified}"),
        false => format!("{crd}: rewrote {}, verified {verified}", counted(rewritten, "object")),
    });
    trim(storage, cluster)
}

/// Removes old versions from the CRD's status, if the CRD is still the one whose objects were verified.
fn trim(storage: &Storage, cluster: &Cluster) -> anyhow::Result<()> {
    let crd = &storage.crd;
    let now = Storage::all(&cluster.kubectl, std::slice::from_ref(crd));
    let now = now.map_err(|error| cluster.failure("read the CRD again", &error))?;
    let Some(now) = now.first().filter(|now| now.is_same_as(storage)) else {
        let refusal = UserError::new(format!("`{crd}` was changed meanwhile, so its `storedVersions` were kept"));
        return Err(ExternalError(refusal.help("run `opctl migrate` again")).into());
    };
    now.trim(&cluster.kubectl).map_err(|error| cluster.failure("update `storedVersions`", &error))?;
    cluster.console.list(&format!("update  {crd}: storedVersions is {}\n", now.version));
    Ok(())
}

/// `true` if the cluster has a controller for storage migrations, and it rewrote the objects.
fn rewritten_by_cluster(storage: &Storage, cluster: &Cluster) -> anyhow::Result<bool> {
    let (kubectl, console) = (&cluster.kubectl, cluster.console);
    let Some(migration) = VersionMigration::of(kubectl, storage) else { return Ok(false) };
    match migration.start() {
        Ok(()) => {}
        Err(error) if matches!(error.cause(), FailureCause::Forbidden(_)) => {
            console.note("this user may not create a StorageVersionMigration, so opctl rewrites the objects itself");
            return Ok(false);
        }
        Err(error) => return Err(cluster.failure("create a StorageVersionMigration", &error).into()),
    }
    let name = &migration.name;
    let deadline = Deadline::after(START);
    let mut progress = console.progress();
    progress.show(&format!("waiting for the StorageVersionMigration `{name}`"));
    let problem = loop {
        let state = migration.state().map_err(|error| cluster.failure("read the StorageVersionMigration", &error))?;
        match state {
            Some(MigrationState::Succeeded) => break None,
            Some(MigrationState::Failed(why)) => break Some(format!("has failed: {why}")),
            None => break Some("was deleted".to_owned()),
            Some(MigrationState::Ignored) if deadline.has_passed() => break Some("was not started".to_owned()),
            Some(MigrationState::Ignored | MigrationState::Running) => Deadline::after(START).pause(),
        }
    };
    drop(progress);
    migration.delete().map_err(|error| cluster.failure("delete the StorageVersionMigration", &error))?;
    match &problem {
        Some(problem) => {
            console.note(&format!("the StorageVersionMigration `{name}` {problem}; opctl rewrites the objects itself"));
        }
        None => console.info(&format!("{}: rewritten by a StorageVersionMigration of the cluster", storage.crd)),
    }
    Ok(problem.is_none())
}

fn resumable(cluster: &Cluster, storage: &Storage, error: &KubectlError) -> anyhow::Error {
    let ExternalError(refusal) = cluster.failure(&format!("rewrite the objects of `{}`", storage.crd), error);
    ExternalError(refusal.help("`storedVersions` was not changed; run `opctl migrate` again to continue")).into()
}

fn refused(crd: &str, failures: &[String]) -> UserError {
    let mut message = format!("the API server refuses to update {} of `{crd}`", counted(failures.len(), "object"));
    failures.iter().take(SHOWN).for_each(|failure| message.push_str(&format!("\n  {failure}")));
    if failures.len() > SHOWN {
        message.push_str(&format!("\n  and {} more", failures.len() - SHOWN));
    }
    UserError::new(message).help(
        "`storedVersions` was not changed: fix these objects, or what refuses them, and run `opctl migrate` again to continue",
    )
}

fn changes_always(crd: &str, keys: &[&(String, String)]) -> UserError {
    let shown = keys.iter().take(SHOWN).map(|(namespace, name)| match namespace.as_str() {
        "" => format!("`{name}`"),
        namespace => format!("`{namespace}/{name}`"),
    });
    let (shown, more) = (shown.collect::<Vec<_>>().join(", "), if keys.len() > SHOWN { ", …" } else { "" });
    let message = format!(
        "{} of `{crd}` changed with each of {REWRITES} empty patches: {shown}{more}",
        counted(keys.len(), "object")
    );
    UserError::new(message)
        .help("a mutating webhook may set another value each time, or API servers may store different versions: wait a minute after the CRD has changed")
        .help("`storedVersions` was not changed; run `opctl migrate` again to continue")
}

/// A progress bar: `rewriting memcacheds.cache.example.com [######    ] 3000 of 5000`.
fn bar(word: &str, crd: &str, done: usize, total: usize) -> String {
    const WIDTH: usize = 20;
    let filled = (WIDTH * done).checked_div(total).unwrap_or(WIDTH);
    let crd: String = crd.chars().take(30).collect();
    format!("{word} {crd} [{:WIDTH$}] {done} of {total}", "#".repeat(filled.min(WIDTH)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn storage(conversion: &str, served: bool) -> Storage {
        let version = |name: &str, is_stored: bool, field: &str| {
            json!({ "name": name, "served": served, "storage": is_stored, "schema": { "openAPIV3Schema": {
                "type": "object", "properties": { "spec": { "type": "object", "properties": { field: { "type": "string" } } } },
            } } })
        };
        Storage::of(&json!({
            "metadata": { "name": "as.b.c" },
            "spec": {
                "group": "b.c", "names": { "kind": "A", "plural": "as" }, "conversion": { "strategy": conversion },
                "versions": [version("v1", false, "old"), version("v2", true, "new")],
            },
            "status": { "storedVersions": ["v1", "v2"] },
        }))
    }

    fn refusals(storage: &Storage, allow_loss: bool) -> Vec<String> {
        possible(storage, allow_loss, UserErrors::default()).0.into_iter().map(|refusal| refusal.message).collect()
    }

    #[test]
    fn refuses_to_rewrite_what_would_lose_fields() {
        let lossy = storage("None", true);
        assert!(refusals(&lossy, false)[0].contains("would lose `spec.old`"), "{:?}", refusals(&lossy, false));
        assert_eq!(refusals(&lossy, true), [""; 0]);
        assert_eq!(refusals(&storage("Webhook", true), false), [""; 0]);
        assert!(refusals(&storage("Webhook", false), false)[0].contains("serves no version"));
    }

    #[test]
    fn the_bar_is_full_at_the_end() {
        assert_eq!(bar("rewriting", "as.b.c", 5, 10), "rewriting as.b.c [##########          ] 5 of 10");
        assert_eq!(bar("rewriting", "as.b.c", 0, 0), "rewriting as.b.c [####################] 0 of 0");
    }
}
