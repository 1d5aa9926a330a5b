//! Renders the scaffold of a whole project again: everything that `init`, `create api`, `create webhook` and `edit`
//! would write, from the arguments stored in PROJECT and in the record of the scaffold.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use super::components::{KUSTOMIZATION, listed};
use super::plan::{self, add_rendered, project_of, webhooks_of};
use super::{Args, Request, adopted, ansible, chart, versions};
use crate::scaffold::webhook::{self, Server};
use crate::scaffold::{self, Runtime, RuntimeCopy, RuntimeSource};
use crate::scaffold::{BOILERPLATE, api_of_resource};
use opctl_edit as edit;
use opctl_edit::plan::{Change, Plan, Policy, resolve};
use opctl_model::project::{Manifest, Origin, PROJECT, ProjectFile, Resource, Tree, Webhooks};

/// Texts by path, relative to the project's folder.
pub type Texts = BTreeMap<String, String>;

/// The scaffold of a project, rendered with the current templates. `recorded` is the scaffold that the project was
/// created with. Texts that the templates alone do not determine, such as the types of a chart's values, are copied
/// from it.
pub fn files(file: &ProjectFile, recorded: &Texts, tree: &Tree) -> anyhow::Result<Texts> {
    let (plan, mut of_others) = creation(file, recorded, tree)?;
    if file.adopted {
        // The user selected which of these files to add.
        let optional = scaffold::init(&project(file, recorded, tree)?).into_iter().map(|file| file.path);
        of_others.extend(optional.filter(|path| !recorded.contains_key(path)));
    }
    // A field that is part of an API stays, though new kinds have none.
    let folders = ["src/api/", "src/controller/", "config/samples/"];
    let is_of_kind = |path: &str| folders.iter().any(|folder| path.starts_with(folder));
    of_others.extend(
        recorded.iter().filter(|(path, text)| is_of_kind(path) && has_suspend(text)).map(|(path, _)| path.clone()),
    );
    let mut texts: Texts = recorded.clone();
    texts.extend(written(plan).filter(|(path, _)| !of_others.contains(path)));
    for (path, recorded_text) in recorded.iter().filter(|(path, _)| path.ends_with("kustomization.yaml")) {
        if let Some(text) = texts.get_mut(path) {
            *text = with_choices(path, recorded_text, text, &|path| recorded.contains_key(path) || tree.has(path));
        }
    }
    Ok(texts)
}

/// `true` for a file of a kind that opctl scaffolded when it still gave each kind a field `suspend`.
fn has_suspend(text: &str) -> bool {
    ["pub suspend: bool", ".spec.suspend", "  suspend: false"].iter().any(|part| text.contains(part))
}

/// The paths of all files that were created for a project, except for its manifests.
pub fn paths(file: &ProjectFile, tree: &Tree) -> anyhow::Result<BTreeSet<String>> {
    let (plan, _) = creation(file, &Texts::new(), tree)?;
    // Files that were copied with a type are known only by their current paths.
    Ok(plan.changes.into_keys().chain(file.resources.iter().flat_map(versions::files)).collect())
}

/// The texts of a plan, except for generated files.
fn written(mut plan: Plan) -> impl Iterator<Item = (String, String)> {
    plan.changes.remove(PROJECT);
    plan.changes.retain(|_, change| !matches!(change, Change::Generate(_)));
    let Ok(steps) = resolve::<Infallible>(&plan, &Policy::default(), |_| Ok(None), |_| Ok(None)) else {
        unreachable!("nothing is read, and nothing overwritten")
    };
    steps.into_iter().filter(|step| !step.is_conflict()).filter_map(|step| Some((step.path, step.after?.into_text()?)))
}

/// The files that can be rendered from the templates alone: versions are not copies of other ones, and charts have no
/// values.
pub fn templates(file: &ProjectFile, tree: &Tree) -> anyhow::Result<Texts> {
    let mut file = file.clone();
    file.resources.iter_mut().for_each(versions::forget);
    let (plan, _) = creation(&file, &Texts::new(), tree)?;
    Ok(written(plan).collect())
}

/// The changes of `init`, `create api` and `create webhook`, and the paths of the files that the templates alone do not
/// determine.
fn creation(file: &ProjectFile, recorded: &Texts, tree: &Tree) -> anyhow::Result<(Plan, BTreeSet<String>)> {
    let project = project(file, recorded, tree)?;
    let mut plan = Plan::default();
    // In an adopted crate, these files are created with the first scaffolded kind.
    let is_late = |path: &str| project.adopted.is_some() && path.starts_with("src/");
    for file in scaffold::init(&project).into_iter().filter(|file| !is_late(&file.path)) {
        plan.scaffold(file.path, file.text);
    }
    let mut of_others = BTreeSet::new();
    let mut has = Has::default();
    for resource in &file.resources {
        for request in requests(resource, file, recorded, tree, &mut has)? {
            let api = api_of_resource(&request.resource);
            if let Some(operator) = &request.chart {
                of_others.extend([api.types_file(), format!("config/samples/{}", api.sample())]);
                if operator.scaffold.adopted.is_some() {
                    of_others.insert(controller_file(&request));
                }
            }
            if let Some(operator) = &request.ansible {
                of_others.extend([api.types_file(), format!("config/samples/{}", api.sample())]);
                if operator.scaffold.watch.is_some() {
                    of_others.insert(controller_file(&request));
                }
            }
            if request.external_types.is_some() {
                let (group, version, kind) = (api.group.module(), &api.version, api.kind.module());
                of_others.insert(format!("src/external/{group}/{version}/{kind}.rs"));
            }
            plan::add(&mut plan, &project, &request);
        }
    }
    let mut server = Some(match lists(recorded, KUSTOMIZATION, "components", "../certmanager") {
        true => Server::CertManager,
        false => Server::OwnCertificate,
    });
    for resource in file.resources.iter().filter(|resource| resource.webhooks != Webhooks::default()) {
        let mut wanted = webhooks_of(resource, None, &project);
        wanted.server = server.take();
        add_rendered(&mut plan, webhook::webhooks(&project, &api_of_resource(resource), &wanted));
    }
    adopted::complete(&mut plan, &project, tree);
    Ok((plan, of_others))
}

/// The project. Settings that are not in PROJECT follow from the recorded files.
fn project(file: &ProjectFile, recorded: &Texts, tree: &Tree) -> anyhow::Result<scaffold::Project> {
    let manifest = recorded.get("Cargo.toml").cloned().or(tree.read("Cargo.toml")?);
    let manifest = manifest.as_deref().and_then(Manifest::parse);
    let license = manifest.as_ref().and_then(|manifest| manifest.metadata().license);
    let path = manifest.and_then(|manifest| manifest.requirement(Runtime::PACKAGE)?.path);
    let workspace = plan::workspace(tree)?.filter(|up| !up.is_empty());
    let vendored = workspace.as_ref().map_or(Runtime::FOLDER.to_owned(), |up| format!("{up}/{}", Runtime::FOLDER));
    let is_vendored = path.as_ref() == Some(&vendored);
    let copy = match &path {
        Some(path) => RuntimeCopy::read(&Tree::at(tree.root().join(path)), "")?,
        None => None,
    };
    let embedded = Runtime::embedded().version.clone();
    let version = copy.filter(|copy| !is_vendored || copy.sums.is_none() || copy.is_newer()).map(|copy| copy.version);
    let project = project_of(file, tree)?;
    let header = recorded.get(BOILERPLATE).map(|text| text.trim_end().to_owned());
    Ok(scaffold::Project {
        header: header.unwrap_or(project.header),
        spdx: scaffold::spdx(license.as_deref()),
        workspace,
        runtime: RuntimeSource { version: version.unwrap_or(embedded), path, is_vendored },
        ..project
    })
}

/// The parts that a project has only once, and that an earlier kind has already added.
#[derive(Default)]
struct Has {
    chart: bool,
    ansible: bool,
}

/// The requests that created an entry of PROJECT.
fn requests(
    resource: &Resource,
    file: &ProjectFile,
    recorded: &Texts,
    tree: &Tree,
    has: &mut Has,
) -> anyhow::Result<Vec<Request>> {
    let main = Args::of(resource);
    let mut requests = Vec::new();
    if resource.is_adopted() || matches!(resource.origin, Origin::External { .. }) {
        let named = resource.controllers.iter().map(|controller| Args::of_controller(resource, controller));
        let of_crd = resource.path.starts_with("crate::external::");
        for args in resource.controller.then_some(main).into_iter().chain(named) {
            let request = Request::external(&args, resource.clone(), String::new(), file)?;
            requests.push(Request { external_types: request.external_types.filter(|_| of_crd), ..request });
        }
        return Ok(requests);
    }
    // Each request is validated as if it were new.
    let others = |also: Option<Resource>| {
        let others = file.resources.iter().filter(|other| !other.is_same(resource)).cloned();
        ProjectFile { resources: others.chain(also).collect(), ..file.clone() }
    };
    // If the first controller of a kind has a name and runs an image, the type was created with it.
    let with_type = resource.controllers.first().filter(|first| !resource.controller && first.options.image);
    if with_type.is_none() && (resource.api.is_some() || resource.controller) {
        let mut request = Request::new(&main, &others(None))?;
        versions::restore(&mut request, resource, |path| match recorded.get(path) {
            Some(text) => Ok(Some(text.clone())),
            None => tree.read(path),
        })?;
        if let Some(folder) = chart::folder_of(resource) {
            request.chart = Some(chart::Operator::known(folder, resource, !has.chart));
            has.chart = true;
        }
        if let Some(source) = ansible::source_of(resource) {
            request.ansible = Some(ansible::Operator::known(&source, resource, !has.ansible));
            has.ansible = true;
        }
        requests.push(request);
    }
    let without = Resource { controllers: Vec::new(), ..resource.clone() };
    for controller in &resource.controllers {
        let is_new = with_type == Some(controller) || !(resource.api.is_some() || resource.controller);
        let request =
            Request::new(&Args::of_controller(resource, controller), &others((!is_new).then(|| without.clone())))?;
        requests.push(Request { adds_type: with_type == Some(controller), ..request });
    }
    Ok(requests)
}

/// Keeps the recorded items of the lists in a kustomization: `opctl edit` or `opctl manifests` decided which optional
/// parts are on. Only items that are new in the templates are added.
fn with_choices(path: &str, recorded: &str, text: &str, exists: &dyn Fn(&str) -> bool) -> String {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    ["resources", "components", "transformers"].into_iter().fold(text.to_owned(), |text, key| {
        let (old, new) = (items(recorded, key), items(&text, key));
        let differing: Vec<&String> = old.symmetric_difference(&new).collect();
        differing.into_iter().fold(text, |text, item| {
            let target = below(folder, item);
            match exists(&target) || exists(&format!("{target}/kustomization.yaml")) {
                true => listed((key, item.clone()), old.contains(item)).apply(&text).unwrap_or(text),
                false => text,
            }
        })
    })
}

/// The strings in a list of a kustomization.
fn items(text: &str, key: &str) -> BTreeSet<String> {
    edit::yaml_items(text, key).into_iter().collect()
}

fn lists(texts: &Texts, path: &str, key: &str, item: &str) -> bool {
    texts.get(path).is_some_and(|text| items(text, key).contains(item))
}

/// Resolves a path relative to a folder.
fn below(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            ".." => _ = parts.pop(),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn controller_file(request: &Request) -> String {
    let module = request.wiring.module(&request.resource.kind);
    format!("src/controller/{}/{module}.rs", request.resource.group_module())
}
