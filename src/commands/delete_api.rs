//! `opctl delete api`: undoes the changes of `opctl create api`.
//!
//! The creation is planned again from the entry of PROJECT, and each change is inverted: unedited files are removed,
//! and edits are undone.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::questions::choose_to_delete;
use super::{
    Console, Next, Outcome, Task, carry_out, counted, delete_webhook, lock, manifests, project_folder, resolve_part,
    tree,
};
use crate::api::plan::{add, enter, project_of, switch};
use crate::api::record::{self, written};
use crate::api::{self, Request, adopted, ansible, chart, versions};
use crate::commands::complete;
use crate::error::{SourceErrors, UserError};
use crate::rename::types_of;
use crate::scaffold::api_of_resource;
use crate::scaffold::{self, Runtime};
use opctl_edit::plan::{Change, Content, Plan, Step, Verdict};
use opctl_edit::{Edit, Package, Renames};
use opctl_model::diagnostic::{SourceFile, Span};
use opctl_model::names::{Group, Kind, Version};
use opctl_model::project::{Controller, Origin, PROJECT, ProjectFile, Resource, Tree};
use opctl_source as source;
use opctl_source::emit;

/// Delete an API, or one of its versions: its type, its controller, its manifests and its entry in PROJECT
///
/// The inverse of `opctl create api`. Files that were edited since are only removed with --overwrite. The cluster is
/// not changed: the output shows what to do there, in which order.
///
/// A version in which clusters may have stored objects goes in two steps: the first run stops serving it, which is easy
/// to revert; the second run, in a later release, removes it. The version that objects are stored as, and one that a
/// controller uses, is not deleted.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # List what would be removed
  opctl delete api --group cache --version v1alpha1 --kind Memcached --dry-run

  # One of several versions: stop serving it, and in a later release remove it
  opctl delete version --group cache --version v1alpha1 --kind Memcached

  # Also remove a controller that was edited
  opctl delete api --group cache --version v1alpha1 --kind Memcached --overwrite src/controller/cache/memcached.rs")]
pub struct DeleteApiArgs {
    /// The group without the project's domain
    #[arg(long, add = ArgValueCandidates::new(complete::groups))]
    pub group: Option<String>,

    /// The version
    #[arg(long, add = ArgValueCandidates::new(complete::versions))]
    pub version: Option<String>,

    /// The kind
    #[arg(long, add = ArgValueCandidates::new(complete::kinds))]
    pub kind: Option<String>,

    /// Remove one of several versions in one step; only if no cluster ever stored objects in this version
    #[arg(long)]
    pub never_stored: bool,
}

pub fn run(args: &DeleteApiArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = project_folder()?;
    let tree = tree(&root);
    // Questions come before the project is locked, so that no other command waits for the answers.
    let names = [&args.group, &args.version, &args.kind];
    let Some(names) = choose_to_delete("the API", names, &ProjectFile::read(&tree)?, console)? else {
        console.info("nothing was deleted");
        return Ok(Outcome::Problems);
    };
    let _lock = lock(&root, console)?;
    let tree = super::tree(&root);
    let file = ProjectFile::read(&tree)?;
    let resource = find(names.each_ref(), &file)?;
    refuse_what_stays(&resource, &file)?;
    let others = versions::others(&resource, &file);
    let name = format!("{}.{}", resource.plural(), resource.full_group());
    let is_one_of_several = resource.api.is_some() && !others.is_empty();
    if is_one_of_several {
        refuse_stored(&resource, &others, &tree)?;
    }
    let may_be_stored = !args.never_stored && !versions::is_copy(&resource) && !versions::is_unserved(&resource);
    let (plan, next) = if is_one_of_several && may_be_stored {
        (stop_serving(&resource, &file, &tree, console)?, next_of_unserved(&resource, &name))
    } else {
        let plan = plan(&resource, &file, &tree, console)?;
        refuse_users(&resource, &file, &plan, &tree)?;
        (plan, next(&resource, &name, is_one_of_several))
    };
    let again = "run the same command without `--check`";
    carry_out(&Task { again, tree: &tree, folder: "", plan, next }, console)
}

/// The steps for a cluster, in order.
fn next(resource: &Resource, name: &str, is_one_of_several: bool) -> Vec<Next> {
    if resource.api.is_none() {
        return Vec::new();
    }
    if is_one_of_several {
        return vec![
            Next::new(
                format!("kubectl get crd {name} -o jsonpath='{{.status.storedVersions}}'"),
                "in each cluster: if it lists the version, first migrate the objects (docs/migrating.md)",
            ),
            Next::new("opctl deploy --image IMAGE", "in each cluster"),
        ];
    }
    vec![
        Next::new(
            format!("kubectl delete {name} --all --all-namespaces"),
            "in each cluster, while the operator still runs: it cleans up what has a finalizer",
        ),
        Next::new(format!("kubectl delete crd {name}"), "deletes the objects that are left, too; then deploy"),
    ]
}

/// The steps for the deletion of a version that may be stored, in order.
fn next_of_unserved(resource: &Resource, name: &str) -> Vec<Next> {
    let Resource { group, version, kind, .. } = resource;
    vec![
        Next::new("opctl deploy --image IMAGE", "in each cluster: clients can no longer use the version"),
        Next::new(
            format!("kubectl get crd {name} -o jsonpath='{{.status.storedVersions}}'"),
            "while it lists the version, migrate the objects (docs/migrating.md)",
        ),
        Next::new(
            format!("opctl delete version --group {group} --version {version} --kind {kind}"),
            "in a later release: removes it",
        ),
    ]
}

/// Refuses to delete the storage version: objects in etcd have this version until another one is stored.
fn refuse_stored(resource: &Resource, others: &[&Resource], tree: &Tree) -> anyhow::Result<()> {
    let mut all: Vec<&Resource> = others.iter().copied().chain([resource]).collect();
    all.sort_by_key(|version| version.version.priority());
    let Resource { kind, version, .. } = resource;
    match versions::stored(&all, tree)? {
        Some(stored) if stored.is_same(resource) => {
            let other = &others.last().expect("there is another version").version;
            Err(UserError::new(format!("objects of `{kind}` are stored as {version}"))
                .help(format!(
                    "first store them as another version, such as {other}, and migrate them: see docs/migrating.md"
                ))
                .help("an API goes as a whole when its other versions are deleted first")
                .into())
        }
        _ => Ok(()),
    }
}

/// The first step: the version stays in the CRD, but clients can no longer use it.
fn stop_serving(resource: &Resource, file: &ProjectFile, tree: &Tree, console: &Console) -> anyhow::Result<Plan> {
    let (unserved, edits) = versions::unserved(resource);
    let api = api_of_resource(resource);
    let mut plan = Plan::default();
    edits.into_iter().for_each(|edit| plan.edit(api.types_file(), edit));
    let sample = format!("config/samples/{}", api.sample());
    if let Some(text) = written(tree, &sample)? {
        plan.changes.insert(sample, Change::Remove(text));
        let item = Edit::NoYamlListItem { key: "resources".into(), item: api.sample() };
        plan.edit("config/samples/kustomization.yaml", item);
    }
    enter(&mut plan, unserved.fields());
    manifests::add_if_sound(&mut plan, tree, &manifests::ManifestOptions::of(Some(file)), console)?;
    Ok(plan)
}

/// The entry of PROJECT with these names.
pub fn find([group, version, kind]: [&Option<String>; 3], file: &ProjectFile) -> anyhow::Result<Resource> {
    let known = |refusal: UserError| {
        file.resources.iter().fold(refusal, |refusal, Resource { group, version, kind, .. }| {
            refusal.help(format!("it has `--group {group} --version {version} --kind {kind}`"))
        })
    };
    let (Some(group), Some(version), Some(kind)) = (group, version, kind) else {
        let message = "`--group`, `--version` and `--kind` specify what to delete from PROJECT";
        return Err(known(UserError::new(message)).into());
    };
    let group = Group::parse(group).map_err(UserError::from)?;
    let version = Version::parse(version).map_err(UserError::from)?;
    let kind = Kind::parse(kind).map_err(UserError::from)?;
    let is_it = |it: &&Resource| (&it.group, &it.version, &it.kind) == (&group, &version, &kind);
    if let Some(resource) = file.resources.iter().find(is_it) {
        return Ok(resource.clone());
    }
    Err(known(UserError::new(format!("PROJECT has no `{kind}` in `{group}/{version}`"))).into())
}

/// Refuses a kind with webhooks or other parts that must be deleted first.
fn refuse_what_stays(resource: &Resource, file: &ProjectFile) -> Result<(), UserError> {
    let Resource { kind, version, webhooks, .. } = resource;
    if webhooks.defaulting || webhooks.validation || !webhooks.spokes.is_empty() {
        let Resource { group, .. } = resource;
        return Err(UserError::new(format!("`{kind}` {version} has webhooks"))
            .help(format!("first run `opctl delete webhook --group {group} --version {version} --kind {kind}`")));
    }
    if let [Controller { name, .. }, ..] = &resource.controllers[..] {
        return Err(UserError::new(format!("`{kind}` has further controllers, such as `{name}`"))
            .help("first remove them from src/controller, from `fn all` in src/controller/mod.rs, and from PROJECT"));
    }
    if resource.is_adopted() {
        let why = match resource.is_of_macro() {
            true => "a macro makes its type".into(),
            false => format!("opctl did not scaffold its type `{}`", resource.path),
        };
        return Err(UserError::new(format!("`opctl delete api` cannot remove `{kind}`: {why}"))
            .help("remove the type and its entry in PROJECT by hand, then run `opctl manifests`"));
    }
    if matches!(resource.origin, Origin::External { .. }) {
        return Err(UserError::new(format!(
            "`opctl delete api` cannot remove `{kind}`: PROJECT does not have its CRD"
        ))
        .help("remove its files and its entry in PROJECT by hand, then run `opctl manifests`"));
    }
    if let Some(other) = versions::others(resource, file).first().filter(|_| resource.controller) {
        return Err(UserError::new(format!("the controller of `{kind}` uses {version}, and {} stays", other.version))
            .help(format!("have the controller use {}, and set `controller: true` there in PROJECT", other.version)));
    }
    Ok(())
}

/// The inverse of all changes of the creation, and the resulting manifests.
fn plan(resource: &Resource, file: &ProjectFile, tree: &Tree, console: &Console) -> anyhow::Result<Plan> {
    let mut plan = Plan::default();
    let mut between = tree.clone();
    // The conversion of this version is deleted with it.
    if let Some(hub) = file.resources.iter().find(|it| hub_of(it, resource)) {
        let mut kept = hub.clone();
        kept.webhooks.spokes.retain(|spoke| *spoke != resource.version);
        (plan, _) = delete_webhook::changes(hub, kept, file, tree)?;
        for Step { path, verdict, after, .. } in resolve_part(&plan, tree, "", console)? {
            match after {
                Some(Content::Text(text)) => between.lay_over(path, text),
                Some(Content::Bytes(_)) => {}
                None if verdict == Verdict::Remove => between.hide(path),
                None => {}
            }
        }
    }
    let (own, planned) = changes(resource, &between, console)?;
    plan.then(own, |path| tree.read(path), |path| between.read(path))?;
    manifests::add_if_sound(&mut plan, tree, &manifests::ManifestOptions::of(Some(&planned)), console)?;
    Ok(plan)
}

fn hub_of(hub: &Resource, spoke: &Resource) -> bool {
    hub.is_same_kind(spoke) && hub.webhooks.spokes.contains(&spoke.version)
}

/// The inverse of the changes to the type, the controller and the entry in PROJECT.
fn changes(resource: &Resource, tree: &Tree, console: &Console) -> anyhow::Result<(Plan, ProjectFile)> {
    let text = tree.read(PROJECT)?.unwrap_or_default();
    let entry = Edit::YamlEntry { key: "resources".into(), identity: Resource::identity(), fields: resource.fields() };
    let before = entry.undo(&text, None).map_err(|error| UserError::edit(PROJECT, error))?;
    let file = ProjectFile::parse(&before).map_err(SourceErrors::from)?;
    let mut request = Request::new(&api::Args::of(resource), &file)?;
    versions::restore(&mut request, resource, |path| written(tree, path))?;
    let project = project_of(&file, tree)?;
    let mut created = Plan::default();
    if let Some(folder) = chart::folder_of(resource) {
        if resource.controller {
            console.note(&format!("kept `{}`", chart::path_of(folder)));
        }
        request.chart = Some(chart::Operator::known(folder, resource, !project.charts));
    }
    if let Some(source) = ansible::source_of(resource) {
        if resource.controller {
            console.note(&format!("kept `{}`", source.path()));
        }
        request.ansible = Some(ansible::Operator::known(&source, resource, !project.ansible));
    }
    add(&mut created, &project, &request);
    // Other kinds may need some of the modules.
    adopted::adapt(&mut created, &project, tree);
    let needed = file.resources.iter().flat_map(|other| edits_for(&project, other));
    let needed = adopted::edits(needed, &project, tree);
    created.changes.remove(PROJECT);
    let of_others: Vec<String> = file.resources.iter().flat_map(versions::files).collect();
    created.changes.retain(|path, _| !of_others.contains(path));
    let mut plan = created.inverse(&needed, |path| tree.read(path)).map_err(record::inverse_error)?;
    adopted::undeclare(&mut plan, &project, tree);
    if resource.controller && (request.chart.is_some() || request.ansible.is_some()) {
        let with = scaffold::Project {
            charts: project.charts || request.chart.is_some(),
            ansible: project.ansible || request.ansible.is_some(),
            ..project.clone()
        };
        switch(&mut plan, &with, &project, tree)?;
        let permissions = scaffold::generated_permissions(&api_of_resource(resource));
        plan.changes.insert(permissions, Change::Prune);
    }
    plan.edit(PROJECT, Edit::Lines { before: text, after: before });
    Ok((plan, file))
}

/// The edits of files that several kinds share, as the creation of `resource` made them.
fn edits_for(project: &scaffold::Project, resource: &Resource) -> Vec<(String, Edit)> {
    let api = api_of_resource(resource);
    let types = match resource.origin {
        Origin::External { .. } => Some(scaffold::external(project, &api, "")),
        Origin::Own | Origin::Kubernetes => {
            resource.api.filter(|_| !resource.is_adopted()).map(|_| scaffold::api(project, &api))
        }
    };
    let names = resource.controllers.iter().map(|controller| Some(controller.name.clone()));
    let names = names.chain(resource.controller.then_some(None));
    let controllers = names.map(|name| {
        let wiring = scaffold::Wiring { name, ..scaffold::Wiring::default() };
        scaffold::controller(project, &scaffold::Api { wiring, ..api.clone() })
    });
    let insertions = types.into_iter().chain(controllers).flat_map(|rendered| rendered.insertions);
    let edits = insertions.map(|insertion| (insertion.path, Edit::from(insertion.what)));
    edits.chain(versions::edits(resource)).collect()
}

/// Refuses to delete a type that the remaining code may use.
fn refuse_users(resource: &Resource, file: &ProjectFile, plan: &Plan, tree: &Tree) -> anyhow::Result<()> {
    if resource.api.is_none() {
        return Ok(());
    }
    let is_kind_elsewhere = file.resources.iter().any(|other| !other.is_same(resource) && other.kind == resource.kind);
    let (name, places) = match is_kind_elsewhere {
        // The name alone does not identify the version, so paths are resolved.
        true => (format!("`{}` {}", resource.kind, resource.version), uses(resource, file, plan, tree)?),
        false => (format!("`{}`", resource.kind), mentions(resource, plan, tree)?),
    };
    if places.is_empty() {
        return Ok(());
    }
    let mut refusal = UserError::new(format!("{name} is used in {}", counted(places.len(), "place")));
    for place in places.iter().take(5) {
        refusal = refusal.help(format!("remove its use in {place}"));
    }
    Err(refusal.into())
}

/// The positions in code that mention the kind's name.
fn mentions(resource: &Resource, plan: &Plan, tree: &Tree) -> anyhow::Result<Vec<String>> {
    let mentions =
        source::read_mentions(tree, "", &[resource.kind.as_str()]).map_err(|error| SourceErrors::from(vec![error]))?;
    let stays = |span: &&Span| !plan.changes.contains_key(&span.file.path) || is_generated(&span.file.text);
    Ok(mentions.iter().flatten().filter(stays).map(ToString::to_string).collect())
}

/// The positions in code that use the types of this version of the kind.
fn uses(resource: &Resource, file: &ProjectFile, plan: &Plan, tree: &Tree) -> anyhow::Result<Vec<String>> {
    let runtime = format!("{}/", Runtime::FOLDER);
    let mut sources = Vec::new();
    for path in tree.own_files()? {
        if path.ends_with(".rs") && !path.starts_with(&runtime) {
            sources.extend(tree.read(&path)?.map(|text| SourceFile::new(path, text)));
        }
    }
    let library = file.name.crate_name();
    let types = types_of(resource, tree)?;
    let renames =
        Renames { types: types.into_iter().collect(), library: (library.clone(), library), ..Renames::default() };
    let package = Package::new(&renames, sources.iter().map(|file| (file.path.as_str(), file.text.as_str())));
    let (types_file, _) = adopted::types_file(resource, tree);
    let staying = sources.iter().filter(|file| !plan.changes.contains_key(&file.path));
    let uses = staying.flat_map(|file| {
        let ranges = package.uses(&file.path, &file.text, &types_file);
        ranges.into_iter().map(|range| Span { file: file.clone(), range }.to_string())
    });
    Ok(uses.collect())
}

fn is_generated(text: &str) -> bool {
    text.starts_with(emit::HEADER)
}
