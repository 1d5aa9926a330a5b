//! `opctl delete api`: takes back what `opctl create api` added.
//!
//! The creation is planned once more, from what PROJECT has of it, and each change is inverted: files are removed as long as they are as
//! they were scaffolded, and edits are undone.

use clap::Args;
use serde_json::{Map, Value};

use super::create_api::{self, project_of};
use super::error::{Diagnosed, Refusal};
use super::inverse::{inverse, refusal, replaced};
use super::request::Request;
use super::{Console, Next, Outcome, Task, ansible, carry_out, chart, counted, lock, manifests, rendered, tree};
use crate::diagnostic::Span;
use crate::edit::Edit;
use crate::emit;
use crate::names::{Group, Kind, Version};
use crate::plan::{Change, Plan};
use crate::project::{Origin, PROJECT, ProjectFile, Resource, Tree};
use crate::scaffold;
use crate::source;

/// Delete an API: its type, its controller, its manifests and its entry in PROJECT
///
/// The inverse of `opctl create api`. Files that were edited since are only removed with --overwrite. The cluster is not changed: the
/// output shows what to do there, in which order.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # List what would be removed
  opctl delete api --group cache --version v1alpha1 --kind Memcached --dry-run

  # Also remove a controller that was edited
  opctl delete api --group cache --version v1alpha1 --kind Memcached --overwrite src/controller/cache/memcached.rs")]
pub struct DeleteApiArgs {
    /// The group without the project's domain
    #[arg(long)]
    pub group: Option<String>,

    /// The version
    #[arg(long)]
    pub version: Option<String>,

    /// The kind
    #[arg(long)]
    pub kind: Option<String>,
}

pub fn run(args: &DeleteApiArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = rendered::project()?;
    let _lock = lock(&root, console)?;
    let tree = tree(&root);
    let file = ProjectFile::read(&tree)?;
    let resource = find([&args.group, &args.version, &args.kind], &file)?;
    refuse_what_stays(&resource, &file)?;
    let plan = plan(&resource, &tree, console)?;
    refuse_users(&resource, &file, &plan, &tree)?;
    let mut next = Vec::new();
    if resource.api.is_some()
        && !file.resources.iter().any(|other| other.is_same_kind(&resource) && !other.is_same(&resource))
    {
        let name = format!("{}.{}", resource.plural(), resource.full_group());
        next.push(Next::new(
            format!("kubectl delete {name} --all --all-namespaces"),
            "in each cluster, while the operator still runs: it cleans up what has a finalizer",
        ));
        next.push(Next::new(
            format!("kubectl delete crd {name}"),
            "deletes the objects that are left, too; then deploy",
        ));
    }
    let again = "run the same command without `--check`";
    carry_out(&Task { again, tree: &tree, folder: "", plan, next }, console)
}

/// The entry of PROJECT with these names.
pub fn find([group, version, kind]: [&Option<String>; 3], file: &ProjectFile) -> anyhow::Result<Resource> {
    let known = |refusal: Refusal| {
        file.resources.iter().fold(refusal, |refusal, Resource { group, version, kind, .. }| {
            refusal.help(format!("it has `--group {group} --version {version} --kind {kind}`"))
        })
    };
    let (Some(group), Some(version), Some(kind)) = (group, version, kind) else {
        let message = "`--group`, `--version` and `--kind` specify what to delete from PROJECT";
        return Err(known(Refusal::new(message)).into());
    };
    let group = Group::parse(group).map_err(Refusal::from)?;
    let version = Version::parse(version).map_err(Refusal::from)?;
    let kind = Kind::parse(kind).map_err(Refusal::from)?;
    let is_it = |it: &&Resource| (&it.group, &it.version, &it.kind) == (&group, &version, &kind);
    if let Some(resource) = file.resources.iter().find(is_it) {
        return Ok(resource.clone());
    }
    Err(known(Refusal::new(format!("PROJECT has no `{kind}` in `{group}/{version}`"))).into())
}

/// What else belongs to the kind has to go first.
fn refuse_what_stays(resource: &Resource, file: &ProjectFile) -> Result<(), Refusal> {
    let Resource { kind, version, webhooks, .. } = resource;
    if webhooks.defaulting || webhooks.validation || !webhooks.spokes.is_empty() {
        let Resource { group, .. } = resource;
        return Err(Refusal::new(format!("`{kind}` {version} has webhooks"))
            .help(format!("first run `opctl delete webhook --group {group} --version {version} --kind {kind}`")));
    }
    if let Some(hub) =
        file.resources.iter().find(|it| it.is_same_kind(resource) && it.webhooks.spokes.contains(version))
    {
        return Err(Refusal::new(format!("a webhook converts `{kind}` {version} to {}", hub.version)).help(format!(
            "first run `opctl delete webhook --group {} --version {} --kind {kind} --conversion`",
            hub.group, hub.version
        )));
    }
    if let [name, ..] = &resource.controllers[..] {
        return Err(Refusal::new(format!("`{kind}` has further controllers, such as `{name}`"))
            .help("first remove them from src/controller, from `fn all` in src/controller/mod.rs, and from PROJECT"));
    }
    if chart::folder_of(resource).is_some() || matches!(resource.origin, Origin::External { .. }) {
        return Err(Refusal::new(format!(
            "`opctl delete api` cannot remove `{kind}`: PROJECT does not have its chart or its CRD"
        ))
        .help("remove its files and its entry in PROJECT by hand, then run `opctl manifests`"));
    }
    let mut others: Vec<&Resource> = file
        .resources
        .iter()
        .filter(|it| it.is_same_kind(resource) && !it.is_same(resource) && it.api.is_some())
        .collect();
    others.sort_by_key(|other| other.version.priority());
    if let Some(other) = others.iter().find(|other| resource.controller && other.api.is_some()) {
        return Err(Refusal::new(format!("the controller of `{kind}` uses {version}, and {} stays", other.version))
            .help(format!("have the controller use {}, and set `controller: true` there in PROJECT", other.version)));
    }
    Ok(())
}

/// An entry of PROJECT.
pub fn fields(resource: &Resource) -> Map<String, Value> {
    let mut fields = resource.fields();
    if !resource.options.is_empty() {
        fields.insert("options".into(), resource.options.clone().into());
    }
    fields
}

/// Everything that the creation changed, inverted, and the manifests that follow.
fn plan(resource: &Resource, tree: &Tree, console: &Console) -> anyhow::Result<Plan> {
    let text = tree.read(PROJECT)?.unwrap_or_default();
    let entry = Edit::YamlEntry { key: "resources".into(), identity: Resource::identity(), fields: fields(resource) };
    let before = entry.undo(&text, None).map_err(|error| refusal(PROJECT, error))?;
    let file = ProjectFile::parse(&before).map_err(Diagnosed::from)?;
    let mut request = Request::new(&Request::arguments(resource), &file)?;
    let project = project_of(&file, tree)?;
    let mut created = Plan::default();
    if let Some(source) = ansible::source_of(resource) {
        console.note(&format!("kept `{}`", source.path()));
        request.ansible = Some(ansible::Operator::known(&source, resource, !project.ansible));
    }
    create_api::add(&mut created, &project, &request);
    // Other kinds need some of the modules, too.
    let needed: Vec<(String, Edit)> = file.resources.iter().flat_map(|other| edits_for(&project, other)).collect();
    created.changes.remove(PROJECT);
    let mut plan = inverse(created, &needed, tree)?;
    if request.ansible.is_some() {
        let with = scaffold::Project { ansible: true, ..project.clone() };
        create_api::switch(&mut plan, &with, &project, tree)?;
        let permissions = scaffold::generated_permissions(&create_api::api_of_resource(resource));
        plan.changes.insert(permissions, Change::Prune);
    }
    plan.changes.insert(PROJECT.into(), replaced(text, before));
    manifests::add_if_sound(&mut plan, tree, &manifests::ManifestOptions::of(Some(&file)), console)?;
    Ok(plan)
}

/// The edits of files that several kinds share, as the creation of this one made them.
fn edits_for(project: &scaffold::Project, resource: &Resource) -> Vec<(String, Edit)> {
    let api = create_api::api_of_resource(resource);
    let types = match resource.origin {
        Origin::External { .. } => Some(scaffold::external(project, &api, "")),
        Origin::Own | Origin::Kubernetes => resource.api.map(|_| scaffold::api(project, &api)),
    };
    let names = resource.controllers.iter().map(|name| Some(name.clone()));
    let names = names.chain(resource.controller.then_some(None));
    let controllers = names.map(|name| {
        let wiring = scaffold::Wiring { name, ..scaffold::Wiring::default() };
        scaffold::controller(project, &scaffold::Api { wiring, ..api.clone() })
    });
    let insertions = types.into_iter().chain(controllers).flat_map(|rendered| rendered.insertions);
    insertions.map(|insertion| (insertion.path, create_api::edit(insertion.what))).collect()
}

/// Code that stays may use the type.
fn refuse_users(resource: &Resource, file: &ProjectFile, plan: &Plan, tree: &Tree) -> anyhow::Result<()> {
    let is_kind_elsewhere = file.resources.iter().any(|other| !other.is_same(resource) && other.kind == resource.kind);
    if resource.api.is_none() || is_kind_elsewhere {
        return Ok(());
    }
    let mentions =
        source::read_mentions(tree, "", &[resource.kind.as_str()]).map_err(|error| Diagnosed::from(vec![error]))?;
    let stays = |span: &&Span| !plan.changes.contains_key(&span.file.path) || is_generated(&span.file.text);
    let places: Vec<String> = mentions.iter().flatten().filter(stays).map(ToString::to_string).collect();
    if places.is_empty() {
        return Ok(());
    }
    let mut refusal = Refusal::new(format!("`{}` is used in {}", resource.kind, counted(places.len(), "place")));
    for place in places.iter().take(5) {
        refusal = refusal.help(format!("remove its use in {place}"));
    }
    Err(refusal.into())
}

fn is_generated(text: &str) -> bool {
    text.starts_with(emit::HEADER)
}
