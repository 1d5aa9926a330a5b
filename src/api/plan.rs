//! Turns requests into the plan of the changes in a project, without manifests.

use serde_json::{Map, Value};

use super::{Request, adopted, ansible, chart, versions};
use crate::error::{SourceErrors, UserError, UserErrors};
use crate::scaffold::webhook::{self, Admission, Webhooks};
use crate::scaffold::{self, Inserted, Insertion, Project, Rendered, api_of_resource};
use opctl_edit::Edit;
use opctl_edit::plan::{Change, Plan};
use opctl_model::names::Version;
use opctl_model::project::{self, PROJECT, ProjectFile, Resource, Tree};

/// The changes of several requests.
pub fn plan(requests: &[Request], file: &ProjectFile, tree: &Tree) -> anyhow::Result<Plan> {
    requests.iter().try_for_each(refuse_imported_names)?;
    let project = project_of(file, tree)?;
    let mut plan = Plan::default();
    let with = Project {
        charts: project.charts || requests.iter().any(|request| request.chart.is_some()),
        ansible: project.ansible || requests.iter().any(|request| request.ansible.is_some()),
        ..project.clone()
    };
    switch(&mut plan, &project, &with, tree)?;
    requests.iter().for_each(|request| add(&mut plan, &project, request));
    requests.iter().try_for_each(|request| adopted::refuse_type_of_macro(&request.resource))?;
    adopted::refuse(&plan, &project, tree)?;
    adopted::complete(&mut plan, &project, tree);
    Ok(plan)
}

/// The changes from one request to another. The user's edits are kept where the requests are equal, and are conflicts
/// elsewhere. Also returns the edited samples, which are kept.
pub fn update(
    request: &Request,
    earlier: &Request,
    file: &ProjectFile,
    tree: &Tree,
) -> anyhow::Result<(Plan, Vec<String>)> {
    let project = project_of(file, tree)?;
    let mut kept = Vec::new();
    let [mut before, mut plan] = [Plan::default(), Plan::default()];
    add(&mut before, &project, earlier);
    add(&mut plan, &project, request);
    for (path, change) in before.changes {
        let old = match change {
            Change::Scaffold(old) => old,
            Change::Copy { content: old, .. } => {
                match plan.changes.remove(&path) {
                    Some(Change::Copy { content, .. }) if content == old => {}
                    Some(Change::Copy { content, .. }) => _ = plan.changes.insert(path, Change::Copy { content, old }),
                    Some(other) => _ = plan.changes.insert(path, other),
                    None => _ = plan.changes.insert(path, Change::Copy { content: None, old }),
                }
                continue;
            }
            _ => continue,
        };
        match plan.changes.remove(&path) {
            Some(Change::Scaffold(new)) if new == old => {}
            Some(Change::Scaffold(new)) => {
                let edit = Edit::Lines { before: old, after: new };
                let text = tree.read(&path)?.unwrap_or_default();
                match path.starts_with("config/samples/") && edit.apply(&text).is_err() {
                    true => kept.push(path),
                    false => plan.edit(path, edit),
                }
            }
            Some(other) => _ = plan.changes.insert(path, other),
            None => _ = plan.changes.insert(path, Change::Remove(old)),
        }
    }
    Ok((plan, kept))
}

fn refuse_imported_names(request: &Request) -> Result<(), UserErrors> {
    let kind = &request.resource.kind;
    let Some(option) = scaffold::option_that_imports(&api_of(request)) else { return Ok(()) };
    let refusal =
        UserError::new(format!("with `{option}`, the files of the kind `{kind}` import another type of this name"));
    Err(UserErrors(vec![refusal.help(format!("choose another kind, or leave out `{option}`"))]))
}

/// The project, as data for the templates.
pub fn project_of(file: &ProjectFile, tree: &Tree) -> anyhow::Result<Project> {
    Ok(Project {
        charts: file.resources.iter().any(|resource| chart::folder_of(resource).is_some()),
        ansible: file.resources.iter().any(|resource| ansible::source_of(resource).is_some()),
        ..Project::of(file, tree)?
    })
}

/// Changes the project's files that differ once it installs charts or runs Ansible. Documentation is changed only if it
/// is unedited.
pub fn switch(plan: &mut Plan, from: &Project, to: &Project, tree: &Tree) -> anyhow::Result<()> {
    let workspace = workspace(tree)?;
    let [from, to] = [from, to].map(|it| scaffold::init(&Project { workspace: workspace.clone(), ..it.clone() }));
    for (before, after) in from.into_iter().zip(to).filter(|(before, after)| before != after) {
        let edit = Edit::Lines { before: before.text, after: after.text };
        let text = tree.read(&before.path)?.unwrap_or_default();
        if !before.path.ends_with(".md") || edit.apply(&text).is_ok() {
            plan.edit(before.path, edit);
        }
    }
    Ok(())
}

/// The relative path from a project up to the root of its cargo workspace.
pub fn workspace(tree: &Tree) -> Result<Option<String>, SourceErrors> {
    let root = project::workspace_above(tree.root()).map_err(|problem| SourceErrors::from(vec![problem]))?;
    let depth = root.and_then(|root| Some(tree.root().strip_prefix(root).ok()?.components().count()));
    Ok(depth.map(|depth| vec![".."; depth].join("/")))
}

/// Adds the changes of one request.
pub fn add(plan: &mut Plan, project: &Project, request: &Request) {
    let api = api_of(request);
    let types = match &request.external_types {
        Some(types) => Some(scaffold::external(project, &api, types)),
        None => request.adds_type.then(|| scaffold::api(project, &api)),
    };
    let types = types.map(|mut rendered| {
        request.copy.iter().for_each(|copy| copy.replace(&mut rendered, &request.resource));
        if versions::is_unserved(&request.resource) {
            // A version that is not served cannot have a sample.
            rendered.files.retain(|file| !file.path.starts_with("config/samples/"));
            rendered.insertions.retain(|insertion| !insertion.path.starts_with("config/samples/"));
        }
        rendered
    });
    let controller = request.adds_controller.then(|| scaffold::controller(project, &api));
    types.into_iter().chain(controller).for_each(|rendered| add_rendered(plan, rendered));
    if let Some(operator) = &request.chart {
        let folder = chart::path_of(&operator.scaffold.folder);
        // Another kind may use the same chart.
        for (path, text) in &operator.files.texts {
            plan.changes.entry(format!("{folder}/{path}")).or_insert_with(|| Change::Scaffold(text.clone()));
        }
        for (path, content) in &operator.files.others {
            let copy = || Change::Copy { content: Some(content.clone()), old: None };
            plan.changes.entry(format!("{folder}/{path}")).or_insert_with(copy);
        }
        add_samples(plan, &api, &operator.samples);
        if request.adds_controller {
            plan.generate(scaffold::generated_permissions(&api), operator.permissions.clone());
        }
        if operator.is_first {
            add_rendered(plan, scaffold::helm(project));
        }
    }
    if let Some(operator) = &request.ansible {
        for (path, text) in &operator.files {
            // Another kind may use the same role.
            plan.changes.entry(path.clone()).or_insert_with(|| Change::Scaffold(text.clone()));
        }
        add_samples(plan, &api, &operator.samples);
        if request.adds_controller {
            plan.generate(scaffold::generated_permissions(&api), operator.permissions.clone());
        }
        if operator.is_first {
            add_rendered(plan, scaffold::ansible(project));
        }
    }
    if let Some(patch) = &request.environment {
        add_rendered(plan, scaffold::environment(patch));
    }
    enter(plan, request.resource.fields());
    if versions::is_unserved(&request.resource) {
        let (_, edits) = versions::unserved(&request.resource);
        edits.into_iter().for_each(|edit| plan.edit(api.types_file(), edit));
    }
    if let Some(copy) = &request.copy {
        for (path, text) in copy.texts(&request.resource) {
            // Another kind may use the same file.
            plan.changes.entry(path).or_insert_with(|| Change::Scaffold(text));
        }
    }
    if let Some((hub, webhooks)) = &request.conversion {
        add_rendered(plan, webhook::webhooks(project, &api_of_resource(hub), webhooks));
        enter(plan, hub.fields());
    }
}

/// Adds samples; one of them may have the name of the scaffolded sample.
fn add_samples(plan: &mut Plan, api: &scaffold::Api, samples: &[(String, String)]) {
    for (name, text) in samples {
        plan.changes.insert(format!("config/samples/{name}"), Change::Scaffold(text.clone()));
        if *name != api.sample() {
            let what = Inserted::YamlItem { key: "resources", item: name.clone() };
            insert(plan, Insertion { path: "config/samples/kustomization.yaml".into(), base: None, what });
        }
    }
}

/// Adds the entry of a resource to PROJECT.
pub fn enter(plan: &mut Plan, fields: Map<String, Value>) {
    plan.edit(PROJECT, Edit::YamlEntry { key: "resources".into(), identity: Resource::identity(), fields });
}

/// Adds new files, and edits of files that may exist.
pub fn add_rendered(plan: &mut Plan, rendered: Rendered) {
    for file in rendered.files {
        plan.scaffold(file.path, file.text);
    }
    for insertion in rendered.insertions {
        insert(plan, insertion);
    }
}

fn insert(plan: &mut Plan, insertion: Insertion) {
    let edit = Edit::from(insertion.what);
    match insertion.base {
        Some(base) => plan.edit_or_create(insertion.path, base, edit),
        None => plan.edit(insertion.path, edit),
    }
}

fn api_of(request: &Request) -> scaffold::Api {
    scaffold::Api {
        short_names: request.short_names.clone(),
        categories: request.categories.clone(),
        wiring: request.wiring.clone(),
        workload: request.workload.clone(),
        chart: request.chart.as_ref().map(|operator| operator.scaffold.clone()),
        ansible: request.ansible.as_ref().map(|operator| operator.scaffold.clone()),
        finalizer: request.finalizer,
        has_image: request.resource.has_image(),
        ..api_of_resource(&request.resource)
    }
}

/// The webhooks of a kind, without those of `kept`.
pub fn webhooks_of(resource: &Resource, kept: Option<&Resource>, project: &Project) -> Webhooks {
    let (api, webhooks) = (api_of_resource(resource), &resource.webhooks);
    let is_kept = |of: fn(&Resource) -> bool| kept.is_some_and(of);
    let mut admissions = Vec::new();
    if webhooks.defaulting && !is_kept(|kept| kept.webhooks.defaulting) {
        let path = webhooks.defaulting_path.clone().unwrap_or_else(|| Admission::Defaulting.path(project, &api));
        admissions.push((Admission::Defaulting, path));
    }
    if webhooks.validation && !is_kept(|kept| kept.webhooks.validation) {
        let path = webhooks.validation_path.clone().unwrap_or_else(|| Admission::Validation.path(project, &api));
        admissions.push((Admission::Validation, path));
    }
    let is_spoke_kept = |spoke: &Version| kept.is_some_and(|kept| kept.webhooks.spokes.contains(spoke));
    let spokes: Vec<Version> = webhooks.spokes.iter().filter(|spoke| !is_spoke_kept(spoke)).cloned().collect();
    Webhooks { server: None, admissions, conversion: Some(spokes).filter(|spokes| !spokes.is_empty()) }
}
