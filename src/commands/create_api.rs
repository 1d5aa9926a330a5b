//! `opctl create api`: adds a custom resource, its controller, or both.

use anyhow::Context;

use super::error::{Refusal, Refusals};
use super::request::{self, Request};
use super::{Console, Outcome, Task, carry_out, lock, manifests, resolve_part};
use crate::cli::CreateApi;
use crate::edit::Edit;
use crate::plan::{Change, Plan, Step};
use crate::project::{Origin, PROJECT, ProjectFile, Resource, Tree, root_above};
use crate::scaffold;

pub fn run(args: &CreateApi, console: &Console) -> anyhow::Result<Outcome> {
    let root = root_above(&std::env::current_dir().context("cannot tell the current folder")?)?;
    let mut tree = Tree::at(&root);
    let mut args = args.clone();
    if !args.yes && console.can_ask() {
        // Asked before the lock is taken: nobody else has to wait for the answers.
        args = request::ask(&args, &ProjectFile::read(&tree)?, console)?;
        tree = Tree::at(&root);
    }
    let _lock = lock(&root, console)?;
    let file = ProjectFile::read(&tree)?;
    let request = Request::new(&args, &file)?;

    let project = scaffold::Project {
        name: file.name.clone(),
        domain: file.domain.clone(),
        namespaced: file.namespaced,
        header: tree.read(BOILERPLATE)?.unwrap_or_default().trim_end().to_owned(),
        spdx: None,
        workspace: None,
    };
    let mut plan = Plan::default();
    add(&mut plan, &project, &request);
    refuse_what_exists(&plan, &tree, &file, &request.resource, console)?;

    let place = manifests::Place { folder: "", output: "config", namespaced: file.namespaced };
    let next = match manifests::add(&mut plan, &tree, &place, console)? {
        Ok(warnings) => {
            manifests::warn(&warnings, console);
            next(&request)
        }
        Err(_) => {
            "the source has errors, so the manifests stay as they are: `opctl manifests` shows what to fix".into()
        }
    };
    carry_out(&Task { command: "opctl create api", tree: &tree, folder: "", plan, next }, console)
}

/// Where the header of generated source files is kept.
pub const BOILERPLATE: &str = "hack/boilerplate.txt";

/// Adds everything that one request changes, but the manifests.
pub fn add(plan: &mut Plan, project: &scaffold::Project, request: &Request) {
    let api = api_of(request);
    let (group, version, kind) = (api.group.module(), api.version.to_string(), api.kind.module());
    let mut modules = Modules { plan, header: &project.header };
    if request.adds_type {
        modules.add("src/lib.rs", None, "api");
        modules.add("src/api/mod.rs", None, &group);
        modules.add(
            &format!("src/api/{group}/mod.rs"),
            Some(format!("Group `{}`.", api.full_group(project))),
            &version,
        );
        let api_version = format!("`{}/{version}`.", api.full_group(project));
        modules.add(&format!("src/api/{group}/{version}/mod.rs"), Some(api_version), &kind);
        let item = format!("{group}::{version}::{kind}::{}::crd()", api.kind);
        modules.plan.edit("src/api/mod.rs", Edit::RustListItem { function: "all".into(), item });
    }
    if request.adds_controller {
        modules.add("src/lib.rs", None, "controller");
        modules.add("src/controller/mod.rs", None, &group);
        let doc = format!("Controllers of the kinds in the group `{}`.", api.group);
        modules.add(&format!("src/controller/{group}/mod.rs"), Some(doc), &kind);
        let item = format!("{group}::{kind}::CONTROLLER");
        modules.plan.edit("src/controller/mod.rs", Edit::RustListItem { function: "all".into(), item });
    }
    let types = request.adds_type.then(|| scaffold::api(project, &api));
    let controllers = request.adds_controller.then(|| scaffold::controller(project, &api));
    for file in types.into_iter().chain(controllers).flatten() {
        if let Some(sample) = file.path.strip_prefix("config/samples/") {
            let edit = Edit::YamlListItem { key: "resources".into(), item: sample.into() };
            plan.edit("config/samples/kustomization.yaml", edit);
        }
        plan.scaffold(file.path, file.text);
    }
    plan.edit(
        PROJECT,
        Edit::YamlEntry { key: "resources".into(), identity: Resource::identity(), fields: request.resource.fields() },
    );
}

/// `mod` lines, in files that start as their header and a sentence.
struct Modules<'a> {
    plan: &'a mut Plan,
    header: &'a str,
}

impl Modules<'_> {
    /// Declares a module; `doc` is what the file says of itself where opctl may have to create it.
    fn add(&mut self, path: &str, doc: Option<String>, module: &str) {
        let edit = Edit::RustMod { name: module.into() };
        match doc {
            Some(doc) => self.plan.edit_or_create(path, format!("{}//! {doc}\n", self.comment()), edit),
            None => self.plan.edit(path, edit),
        }
    }

    fn comment(&self) -> String {
        let lines = self.header.lines().map(|line| format!("// {line}").trim_end().to_owned() + "\n");
        let comment: String = lines.collect();
        if comment.is_empty() { comment } else { comment + "\n" }
    }
}

fn api_of(request: &Request) -> scaffold::Api {
    let resource = &request.resource;
    scaffold::Api {
        group: resource.group.clone(),
        version: resource.version.clone(),
        kind: resource.kind.clone(),
        plural: plural_to_say(resource),
        short_names: request.short_names.clone(),
        categories: request.categories.clone(),
        namespaced: resource.api.is_none_or(|api| api.namespaced),
        core: resource.origin == Origin::Kubernetes,
    }
}

/// The plural that must be said in the source, because kube would not derive it.
fn plural_to_say(resource: &Resource) -> Option<crate::names::Plural> {
    // kube-derive panics when it looks for the consonant before the `y` of `Y`.
    let of_y = || (resource.kind.as_str() == "Y").then(|| resource.kind.plural());
    resource.plural.clone().or_else(of_y)
}

/// A kind that is in PROJECT already is made again only if that changes none of its files.
fn refuse_what_exists(
    plan: &Plan,
    tree: &Tree,
    file: &ProjectFile,
    resource: &Resource,
    console: &Console,
) -> anyhow::Result<()> {
    let Some(known) = file.find(resource) else { return Ok(()) };
    let steps = resolve_part(plan, tree, "", console)?;
    let changed: Vec<_> = steps
        .iter()
        .filter(|step: &&Step| step.is_conflict())
        .filter(|step| matches!(plan.changes.get(&step.path), Some(Change::Scaffold(_))))
        .map(|step| step.path.as_str())
        .collect();
    let [first, ..] = changed[..] else { return Ok(()) };
    let name = format!("`{}` in `{}/{}`", resource.kind, resource.group, resource.version);
    let mut refusal = Refusal::new(format!("{name} exists already, and its files are not as these answers make them"));
    for path in &changed {
        refusal = refusal.help(format!("edit `{path}` by hand, or start it over with `--overwrite {path}`"));
    }
    if !known.controller && first.starts_with("src/api/") {
        refusal = refusal.help("to add only a controller say `--resource=false`");
    }
    Err(Refusals(vec![refusal.help("for another version of it say `--version` and `--controller=false`")]).into())
}

fn next(request: &Request) -> String {
    let api = api_of(request);
    let (group, kind) = (api.group.module(), api.kind.module());
    let types = format!("src/api/{group}/{}/{kind}.rs", api.version);
    let controller = format!("src/controller/{group}/{kind}.rs");
    match (request.adds_type, request.adds_controller) {
        (true, true) => format!(
            "next: describe the resource in `{types}` and run `opctl manifests`, \
             then say in `{controller}` what it makes; `make install run` tries it"
        ),
        (true, false) => format!("next: describe the resource in `{types}`, then run `opctl manifests`"),
        (false, _) => format!("next: say in `{controller}` what it does, then `make run`"),
    }
}
