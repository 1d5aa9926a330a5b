//! `opctl create api`: adds a custom resource, its controller, or both.

use anyhow::Context;
use clap::Args;
use serde_json::{Map, Value};

use super::ansible::{self, AnsibleArgs};
use super::chart::{self, ChartArgs};
use super::error::{Refusal, Refusals};
use super::external::ExternalArgs;
use super::request::{self, Request};
use super::wiring::WiringArgs;
use super::{
    Console, Next, Outcome, Task, carry_out, external, further, lock, manifests, resolve_part, workspace_above,
};
use crate::scaffold::{self, Inserted, Insertion, Rendered};
pub use crate::scaffold::{BOILERPLATE, api_of_resource};
use opctl_edit::Edit;
use opctl_edit::plan::{Change, Plan, Step};
use opctl_model::project::{Origin, PROJECT, ProjectFile, Resource, Tree, root_above};

/// Create a custom resource, its controller, or both
///
/// Prompts for missing values on a terminal. Without a terminal, or with --yes, it never prompts: it creates both a resource
/// and a controller, and a missing name is an error.
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "\
Examples:
  # A custom resource and its controller
  opctl create api --group cache --version v1alpha1 --kind Memcached

  # Another version of the same kind: a copy of the newest one, or of the given one
  opctl create api --group cache --version v1beta1 --kind Memcached
  opctl create api --group cache --version v2 --kind Memcached --from v1alpha1

  # The same with a conversion webhook, so that the versions can have different fields
  opctl create api --group cache --version v2 --kind Memcached --conversion

  # A cluster-scoped resource with its own plural and short names
  opctl create api --group ship --version v1 --kind Fleet --plural fleet --shortname fl,flt --namespaced=false

  # An operator that runs an image: a Deployment and a Service for each object, with `kubectl scale`
  opctl create api --group cache --version v1alpha1 --kind Memcached --image memcached:1.6.39-alpine --container-port 11211

  # An operator that installs a Helm chart for each object: helm's starter chart, or one of a repository
  opctl create api --group web --version v1 --kind Nginx --helm-chart
  opctl create api --helm-chart nginx --helm-chart-repo https://charts.example.com

  # An operator that runs an Ansible role or playbook for each object
  opctl create api --group cache --version v1alpha1 --kind Memcached --ansible-role
  opctl create api --group cache --version v1alpha1 --kind Memcached --ansible-playbook playbooks/memcached.yml

  # A controller with a finalizer
  opctl create api --group dns --version v1 --kind Record --finalizer

  # A controller for a built-in kind
  opctl create api --group apps --version v1 --kind Deployment --resource=false

  # A controller that owns ConfigMaps and watches Secrets that refer to its objects
  opctl create api --group cache --version v1 --kind Memcached --owns core/v1/ConfigMap --watches core/v1/Secret

  # A second controller for the same kind
  opctl create api --group cache --version v1 --kind Memcached --controller-name memcached-backup

  # A controller for an external kind: from its CRD, or from its type in a crate
  opctl create api --external-crd certificates.yaml
  opctl create api --external-type cert_manager::Certificate --group cert-manager.io --version v1 --kind Certificate")]
pub struct CreateApiArgs {
    /// The group without the project's domain, e.g. cache, or a group of Kubernetes, e.g. apps
    #[arg(long)]
    pub group: Option<String>,

    /// The version, e.g. v1alpha1
    #[arg(long)]
    pub version: Option<String>,

    /// The kind, e.g. Memcached
    #[arg(long)]
    pub kind: Option<String>,

    /// The plural of the kind, if it is irregular
    #[arg(long)]
    pub plural: Option<String>,

    /// A short name for kubectl (repeatable, or comma-separated)
    #[arg(long = "shortname", value_name = "NAME", value_delimiter = ',')]
    pub short_names: Vec<String>,

    /// A category such as all (repeatable, or comma-separated)
    #[arg(long = "category", value_name = "NAME", value_delimiter = ',')]
    pub categories: Vec<String>,

    /// Whether the resource is namespaced [default: true, or as in its other versions]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub namespaced: Option<bool>,

    /// Create the resource; prompted for if missing [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub resource: Option<bool>,

    /// Create the controller; prompted for if missing [default: true, or false for a further version]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub controller: Option<bool>,

    /// Add a finalizer and a cleanup function to the controller
    #[arg(long, help_heading = "Controller")]
    pub finalizer: bool,

    /// Run this image in a Deployment for each object, which `kubectl scale` scales
    #[arg(long, help_heading = "Workload")]
    pub image: Option<String>,

    /// The port that the container listens on; adds a Service for each object, and a field to change the port
    #[arg(long, visible_alias = "image-container-port", help_heading = "Workload", value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub container_port: Option<u16>,

    /// The container's command instead of the image's entrypoint (repeatable, or comma-separated)
    #[arg(
        long,
        visible_alias = "image-container-command",
        help_heading = "Workload",
        value_name = "WORD",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub container_command: Vec<String>,

    /// The user ID of the container, if the image sets none; not 0, which the restricted Pod Security Standard forbids
    #[arg(long, help_heading = "Workload", value_name = "UID", value_parser = clap::value_parser!(i64).range(1..=i64::from(i32::MAX)))]
    pub run_as_user: Option<i64>,

    /// The version whose type is copied [default: the newest one]
    #[arg(long, help_heading = "Further version of a kind", value_name = "VERSION")]
    pub from: Option<String>,

    /// Convert it to the stored version and back with a webhook [default: true if the other versions are converted]
    #[arg(long, help_heading = "Further version of a kind", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub conversion: Option<bool>,

    #[command(flatten)]
    pub chart: ChartArgs,

    #[command(flatten)]
    pub ansible: AnsibleArgs,

    #[command(flatten)]
    pub wiring: WiringArgs,

    #[command(flatten)]
    pub external: ExternalArgs,

    /// Never prompt
    #[arg(short, long)]
    pub yes: bool,
}

pub fn run(args: &CreateApiArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = root_above(&std::env::current_dir().context("cannot determine the current folder")?)?;
    let mut tree = super::tree(&root);
    let mut args = args.clone();
    ansible::check(&args)?;
    if args.ansible.given().is_some() {
        (args.resource, args.controller) = (Some(true), Some(true));
    }
    // Before the lock is taken, too: it takes time, and may fail.
    let fetched = chart::fetch(&mut args, console)?;
    if !args.yes && console.can_ask() && args.external.external_crd.is_none() {
        // Asked before the lock is taken: nobody else has to wait for the answers.
        args = request::ask(&args, &ProjectFile::read(&tree)?, console)?;
        tree = super::tree(&root);
    }
    let _lock = lock(&root, console)?;
    let file = ProjectFile::read(&tree)?;
    if let Some(path) = &args.external.external_type {
        external::refuse_unknown_crate(path, &tree)?;
    }
    let mut request = match &args.external.external_crd {
        Some(path) => {
            let (resource, types) = external::of_crd(path, args.external.external_crd_version.as_deref(), &file)?;
            Request::external(&args, resource, types, &file)?
        }
        None => Request::new(&args, &file)?,
    };

    if let Some(fetched) = fetched {
        request.chart = Some(fetched.operator(&args.chart, &request.resource, &file, console)?);
    }
    if request.adds_type
        && let Some(from) = further::origin(&args, &request.resource, &file)?
    {
        match file.find(&request.resource).filter(|known| further::is_copy(known)) {
            Some(known) => further::restore(&mut request, known, |path| super::update::written(&tree, path))?,
            None => request.copied = Some(further::copy(&mut request.resource, &from, &file, &tree, console)?),
        }
    }
    request.conversion = further::conversion(&args, &request.resource, &file, &tree)?;
    if args.ansible.given().is_some() {
        let project = project_of(&file, &tree)?;
        request.ansible = Some(ansible::operator(&args.ansible, &request.resource, &file, &project, &tree, console)?);
    }
    if let Some(earlier) = chart::earlier(&args, &request, &file, &tree, console)? {
        return update(&request, &earlier, &file, &tree, console);
    }
    let may_be_again = args.external.external_crd.is_none();
    let next = match &request.copied {
        Some(_) => further::next(&request, &file, &tree)?,
        None => next(&request),
    };
    fulfil(std::slice::from_ref(&request), may_be_again, next, &file, &tree, console)
}

/// Replaces what a request was by what it is. Edits stay where the two are equal, and are conflicts elsewhere.
fn update(
    request: &Request,
    earlier: &Request,
    file: &ProjectFile,
    tree: &Tree,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let project = project_of(file, tree)?;
    let [mut before, mut plan] = [Plan::default(), Plan::default()];
    add(&mut before, &project, earlier);
    add(&mut plan, &project, request);
    for (path, change) in before.changes {
        let Change::Scaffold(old) = change else { continue };
        match plan.changes.remove(&path) {
            Some(Change::Scaffold(new)) if new == old => {}
            Some(Change::Scaffold(new)) => {
                let edit = Edit::Lines { before: old, after: new };
                let text = tree.read(&path)?.unwrap_or_default();
                match path.starts_with("config/samples/") && edit.apply(&text).is_err() {
                    true => console.note(&format!("kept `{path}`, which was edited")),
                    false => plan.edit(path, edit),
                }
            }
            Some(other) => _ = plan.changes.insert(path, other),
            None => _ = plan.changes.insert(path, Change::Remove(old)),
        }
    }
    manifests::add_if_sound(&mut plan, tree, &manifests::ManifestOptions::of(Some(file)), console)?;
    let again = "run the same command without `--check`";
    carry_out(&Task { again, tree, folder: "", plan, next: next(request) }, console)
}

/// Adds everything that the requests change to the project, in one plan.
pub fn fulfil(
    requests: &[Request],
    may_be_again: bool,
    next: Vec<Next>,
    file: &ProjectFile,
    tree: &Tree,
    console: &Console,
) -> anyhow::Result<Outcome> {
    requests.iter().try_for_each(refuse_imported_names)?;
    let project = project_of(file, tree)?;
    let mut plan = Plan::default();
    let with = scaffold::Project {
        charts: project.charts || requests.iter().any(|request| request.chart.is_some()),
        ansible: project.ansible || requests.iter().any(|request| request.ansible.is_some()),
        ..project.clone()
    };
    switch(&mut plan, &project, &with, tree)?;
    requests.iter().for_each(|request| add(&mut plan, &project, request));
    let mut resources = requests.iter().map(|request| &request.resource);
    match may_be_again && is_again(&plan, tree, file, &resources.clone().collect::<Vec<_>>())? {
        true => keep_what_exists(&mut plan, tree, console)?,
        false => resources.try_for_each(|resource| refuse_what_exists(&plan, tree, file, resource, console))?,
    }
    manifests::refuse_taken_names(&plan, tree, "", console)?;
    manifests::add_if_sound(&mut plan, tree, &manifests::ManifestOptions::of(Some(file)), console)?;
    carry_out(&Task { again: "run the same command without `--check`", tree, folder: "", plan, next }, console)
}

fn refuse_imported_names(request: &Request) -> Result<(), Refusals> {
    let kind = &request.resource.kind;
    let Some(option) = scaffold::option_that_imports(&api_of(request)) else { return Ok(()) };
    let refusal =
        Refusal::new(format!("with `{option}`, the files of the kind `{kind}` import another type of this name"));
    Err(Refusals(vec![refusal.help(format!("choose another kind, or leave out `{option}`"))]))
}

/// What the project was made with.
pub fn project_of(file: &ProjectFile, tree: &Tree) -> anyhow::Result<scaffold::Project> {
    Ok(scaffold::Project {
        charts: file.resources.iter().any(|resource| chart::folder_of(resource).is_some()),
        ansible: file.resources.iter().any(|resource| ansible::source_of(resource).is_some()),
        ..scaffold::Project::of(file, tree)?
    })
}

/// Changes the files of a project that are different once it installs charts or runs Ansible. Texts for people are changed if they still
/// are as scaffolded.
pub fn switch(plan: &mut Plan, from: &scaffold::Project, to: &scaffold::Project, tree: &Tree) -> anyhow::Result<()> {
    let workspace = workspace_above(tree.root())?;
    let depth = workspace.and_then(|root| Some(tree.root().strip_prefix(root).ok()?.components().count()));
    let workspace = depth.map(|depth| vec![".."; depth].join("/"));
    let [from, to] =
        [from, to].map(|it| scaffold::init(&scaffold::Project { workspace: workspace.clone(), ..it.clone() }));
    for (before, after) in from.into_iter().zip(to).filter(|(before, after)| before != after) {
        let edit = Edit::Lines { before: before.text, after: after.text };
        let text = tree.read(&before.path)?.unwrap_or_default();
        if !before.path.ends_with(".md") || edit.apply(&text).is_ok() {
            plan.edit(before.path, edit);
        }
    }
    Ok(())
}

/// Adds everything that one request changes, but the manifests.
pub fn add(plan: &mut Plan, project: &scaffold::Project, request: &Request) {
    let api = api_of(request);
    let types = match &request.external_types {
        Some(types) => Some(scaffold::external(project, &api, types)),
        None => request.adds_type.then(|| scaffold::api(project, &api)),
    };
    let types = types.map(|mut rendered| {
        request.copied.iter().for_each(|copy| copy.replace(&mut rendered, &request.resource));
        if further::is_unserved(&request.resource) {
            // Nobody can create its sample.
            rendered.files.retain(|file| !file.path.starts_with("config/samples/"));
            rendered.insertions.retain(|insertion| !insertion.path.starts_with("config/samples/"));
        }
        rendered
    });
    let controller = request.adds_controller.then(|| scaffold::controller(project, &api));
    types.into_iter().chain(controller).for_each(|rendered| add_rendered(plan, rendered));
    if let Some(operator) = &request.chart {
        let folder = chart::path_of(&operator.scaffold.folder);
        for (path, text) in &operator.files {
            // Another kind may have the same chart.
            plan.changes.entry(format!("{folder}/{path}")).or_insert_with(|| Change::Scaffold(text.clone()));
        }
        add_samples(plan, &api, &operator.samples);
        plan.generate(scaffold::generated_permissions(&api), operator.permissions.clone());
        if operator.is_first {
            add_rendered(plan, scaffold::helm(project));
        }
    }
    if let Some(operator) = &request.ansible {
        for (path, text) in &operator.files {
            // Another kind may have the same role.
            plan.changes.entry(path.clone()).or_insert_with(|| Change::Scaffold(text.clone()));
        }
        add_samples(plan, &api, &operator.samples);
        plan.generate(scaffold::generated_permissions(&api), operator.permissions.clone());
        if operator.is_first {
            add_rendered(plan, scaffold::ansible(project));
        }
    }
    let mut fields = request.resource.fields();
    let options = request.options();
    if !options.is_empty() {
        fields.insert("options".into(), options.into());
    }
    enter(plan, fields);
    if further::is_unserved(&request.resource) {
        let (_, edits) = further::unserved(&request.resource);
        edits.into_iter().for_each(|edit| plan.edit(api.types_file(), edit));
    }
    if let Some(copy) = &request.copied {
        for (path, text) in copy.texts(&request.resource) {
            // Another kind may have it, too.
            plan.changes.entry(path).or_insert_with(|| Change::Scaffold(text));
        }
    }
    if let Some((hub, webhooks)) = &request.conversion {
        add_rendered(plan, scaffold::webhook::webhooks(project, &api_of_resource(hub), webhooks));
        enter(plan, hub.fields());
    }
}

/// Adds samples, one of which may have the name of the one that is scaffolded.
fn add_samples(plan: &mut Plan, api: &scaffold::Api, samples: &[(String, String)]) {
    for (name, text) in samples {
        plan.changes.insert(format!("config/samples/{name}"), Change::Scaffold(text.clone()));
        if *name != api.sample() {
            let what = Inserted::YamlItem { key: "resources", item: name.clone() };
            insert(plan, Insertion { path: "config/samples/kustomization.yaml".into(), base: None, what });
        }
    }
}

/// Writes a resource into PROJECT.
pub fn enter(plan: &mut Plan, fields: Map<String, Value>) {
    plan.edit(PROJECT, Edit::YamlEntry { key: "resources".into(), identity: Resource::identity(), fields });
}

/// Adds new files, and edits of those that may be there.
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
        has_image: request.resource.has_image() || request.workload.is_some(),
        ..api_of_resource(&request.resource)
    }
}

/// Whether PROJECT has all of it already: the command was run before.
fn is_again(plan: &Plan, tree: &Tree, file: &ProjectFile, resources: &[&Resource]) -> anyhow::Result<bool> {
    let Some(Change::Edit { edits, .. }) = plan.changes.get(PROJECT) else { return Ok(false) };
    let text = tree.read(PROJECT)?.unwrap_or_default();
    let is_known = resources.iter().all(|resource| file.find(resource).is_some());
    Ok(is_known && edits.iter().all(|edit| edit.apply(&text).is_ok_and(|edited| edited == text)))
}

/// Leaves out the files that were edited since the command was run before.
fn keep_what_exists(plan: &mut Plan, tree: &Tree, console: &Console) -> anyhow::Result<()> {
    for path in worked_on(plan, tree, console)? {
        console.note(&format!(
            "kept `{path}`, which was edited; `--overwrite {path}` drops the edits, and scaffolds it again"
        ));
        plan.changes.remove(&path);
    }
    Ok(())
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
    let changed = worked_on(plan, tree, console)?;
    let [first, ..] = &changed[..] else { return Ok(()) };
    let name = format!("`{}` in `{}/{}`", resource.kind, resource.group, resource.version);
    let mut refusal = Refusal::new(format!("{name} exists already, and its files are not as these answers make them"));
    for path in &changed {
        refusal =
            refusal.help(format!("edit `{path}` by hand, or drop all of it and start over with `--overwrite {path}`"));
    }
    if !known.controller && first.starts_with("src/api/") {
        refusal = refusal.help("to add only a controller, use `--resource=false`");
    }
    Err(Refusals(vec![refusal.help("for another version, use `--version`")]).into())
}

/// What would be new, and is there in another form.
pub fn worked_on(plan: &Plan, tree: &Tree, console: &Console) -> anyhow::Result<Vec<String>> {
    let steps = resolve_part(plan, tree, "", console)?;
    let is_new = |step: &Step| matches!(plan.changes.get(&step.path), Some(Change::Scaffold(_)));
    Ok(steps.into_iter().filter(|step| step.is_conflict() && is_new(step)).map(|step| step.path).collect())
}

fn next(request: &Request) -> Vec<Next> {
    let group = request.resource.group_module();
    let types = api_of_resource(&request.resource).types_file();
    let controller = format!("src/controller/{group}/{}.rs", request.wiring.module(&request.resource.kind));
    let mut next = Vec::new();
    let runs = request.ansible.as_ref().map(ansible::Operator::source);
    if request.chart.is_some() {
        next.push(Next::new(format!("edit {types}"), "correct the types of the chart's values"));
    } else if let Some(source) = &runs {
        if !source.is_in_collection() {
            next.push(Next::new(format!("edit {}", source.path()), "write the tasks"));
        }
        next.push(Next::new(format!("edit {types}"), "correct the types of the parameters"));
    } else if request.adds_type {
        next.push(Next::new(format!("edit {types}"), "define the spec and the status"));
    }
    if request.adds_controller && request.chart.is_none() && runs.is_none() {
        next.push(Next::new(format!("edit {controller}"), "implement the reconcile logic"));
    }
    next.push(Next::new("opctl manifests", "regenerates config/crd and config/rbac"));
    if request.chart.is_some() {
        next.push(Next::new("opctl check --fix", "updates the permissions after a change of the chart"));
    } else if runs.is_some() {
        next.push(Next::new("opctl check --fix", "updates the permissions after a change of the tasks"));
        next.push(Next::new("make .venv", "installs Ansible in a virtual environment"));
    } else if request.adds_controller {
        next.push(Next::new("opctl check --fix", "adds the permissions that its code needs"));
    }
    // That API server has no kinds of others.
    if !matches!(request.resource.origin, Origin::External { .. }) {
        next.push(Next::new("opctl dev", "runs it with its own API server"));
    }
    // A kind of Kubernetes is installed already, and there may be no CRD to install.
    let run = if request.resource.origin == Origin::Kubernetes { "make run" } else { "make install run" };
    next.push(Next::new(run, "runs it against the cluster of KUBECONFIG"));
    next
}
