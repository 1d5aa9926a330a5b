//! `opctl create api`: adds a custom resource, its controller, or both.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::questions::{GROUP, KIND, VERSION};
use super::{Console, Next, Outcome, Task, carry_out, lock, manifests, resolve_part};
use crate::api::plan;
use crate::api::record::written;
use crate::api::{self, Names, Request, ansible, chart, versions};
use crate::commands::complete;
use crate::error::{UserError, UserErrors};
use crate::scaffold::api_of_resource;
use crate::scaffold::webhook;
use opctl_edit::plan::{Change, Plan, Step};
use opctl_model::names::{Group, Kind, Version};
use opctl_model::project::{
    Options, Origin, PROJECT, ProjectFile, ReadError, Resource, Tree, WorkloadOptions, root_above,
};

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
    #[arg(long, add = ArgValueCandidates::new(complete::groups))]
    pub group: Option<String>,

    /// The version, e.g. v1alpha1
    #[arg(long, add = ArgValueCandidates::new(complete::versions))]
    pub version: Option<String>,

    /// The kind, e.g. Memcached
    #[arg(long, add = ArgValueCandidates::new(complete::kinds))]
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

    /// Create a namespaced resource [default: true, or as in its other versions]
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

/// A Helm chart that becomes a kind.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct ChartArgs {
    /// Install this Helm chart for each object: a folder, an archive, REPO/CHART, a URL or oci://…; without a value,
    /// helm's starter
    ///
    /// The chart and its dependencies are copied to `helm-charts`. Its values become the spec, and group, version and
    /// kind default to charts, v1alpha1 and the chart's name.
    #[arg(long, help_heading = "Helm", value_name = "CHART", num_args = 0..=1, default_missing_value = "")]
    pub helm_chart: Option<String>,

    /// The URL of the repository that has the chart
    #[arg(long, help_heading = "Helm", value_name = "URL")]
    pub helm_chart_repo: Option<String>,

    /// The version of the chart [default: the latest]
    #[arg(long, help_heading = "Helm", value_name = "VERSION")]
    pub helm_chart_version: Option<String>,

    /// A file with values that the chart requires; the sample gets them, too
    #[arg(long, help_heading = "Helm", value_name = "FILE")]
    pub helm_values: Option<PathBuf>,

    /// The plural of a kind that the chart creates and opctl does not know (repeatable, or comma-separated)
    #[arg(long = "helm-kind", help_heading = "Helm", value_name = "KIND.GROUP=PLURAL", value_delimiter = ',')]
    pub helm_kinds: Vec<String>,
}

/// A role or playbook that becomes a kind.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct AnsibleArgs {
    /// Run this Ansible role for each object; without a value, it has the name of the kind
    ///
    /// A new role is created in `roles`; an existing one is used as it is, and its parameters become the spec. A role
    /// of a collection in `requirements.yml` has a name such as `example.web.server`.
    #[arg(long, alias = "generate-role", help_heading = "Ansible", value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    pub ansible_role: Option<String>,

    /// Run this Ansible playbook for each object; without a value, it has the name of the kind
    ///
    /// A new playbook is created in `playbooks`; an existing one is used as it is. With `--ansible-role`, a new
    /// playbook runs that role.
    #[arg(long, alias = "generate-playbook", help_heading = "Ansible", value_name = "FILE", num_args = 0..=1, default_missing_value = "")]
    pub ansible_playbook: Option<String>,
}

/// The name of a controller, and the kinds that it watches besides its own.
#[derive(Args, Clone, Debug, Default)]
pub struct WiringArgs {
    /// The name of the controller; a kind may have several controllers with different names
    #[arg(long, help_heading = "Controller", value_name = "NAME")]
    pub controller_name: Option<String>,

    /// A kind that the controller creates and owns; its changes trigger a reconcile (repeatable)
    #[arg(long, help_heading = "Controller", value_name = "GROUP/VERSION/KIND")]
    pub owns: Vec<String>,

    /// A kind to watch; its objects name the object to reconcile in an annotation (repeatable)
    #[arg(long, help_heading = "Controller", value_name = "GROUP/VERSION/KIND")]
    pub watches: Vec<String>,
}

/// A kind that another project serves.
#[derive(Args, Clone, Debug, Default)]
pub struct ExternalArgs {
    /// A CRD in YAML or JSON, from which `kopium` generates the types
    #[arg(long, help_heading = "External types", value_name = "FILE", conflicts_with_all = ["external_type", "group", "version", "kind", "plural", "namespaced", "resource", "short_names", "categories", "image"])]
    pub external_crd: Option<PathBuf>,

    /// The version of that CRD [default: its storage version]
    #[arg(long, help_heading = "External types", value_name = "VERSION", requires = "external_crd")]
    pub external_crd_version: Option<String>,

    /// The Rust type of an external kind, which implements `kube::Resource`
    #[arg(long, help_heading = "External types", value_name = "PATH", conflicts_with_all = ["resource", "short_names", "categories", "image"])]
    pub external_type: Option<String>,
}

impl From<CreateApiArgs> for api::Args {
    fn from(args: CreateApiArgs) -> Self {
        Self {
            group: args.group,
            version: args.version,
            kind: args.kind,
            plural: args.plural,
            namespaced: args.namespaced,
            resource: args.resource,
            controller: args.controller,
            controller_name: args.wiring.controller_name,
            from: args.from,
            conversion: args.conversion,
            chart: args.chart.into(),
            ansible: args.ansible.into(),
            external_crd: args.external.external_crd,
            external_crd_version: args.external.external_crd_version,
            external_type: args.external.external_type,
            options: Options {
                short_names: args.short_names,
                categories: args.categories,
                owns: args.wiring.owns,
                watches: args.wiring.watches,
                finalizer: args.finalizer,
                workload: WorkloadOptions {
                    image: args.image,
                    container_port: args.container_port,
                    container_command: args.container_command,
                    run_as_user: args.run_as_user,
                },
                ..Options::default()
            },
        }
    }
}

impl From<ChartArgs> for api::ChartArgs {
    fn from(args: ChartArgs) -> Self {
        let ChartArgs { helm_chart, helm_chart_repo, helm_chart_version, helm_values, helm_kinds } = args;
        Self {
            chart: helm_chart,
            repo: helm_chart_repo,
            version: helm_chart_version,
            values: helm_values,
            kinds: helm_kinds,
        }
    }
}

impl From<AnsibleArgs> for api::AnsibleArgs {
    fn from(AnsibleArgs { ansible_role, ansible_playbook }: AnsibleArgs) -> Self {
        Self { role: ansible_role, playbook: ansible_playbook }
    }
}

pub fn run(args: &CreateApiArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = root_above(&std::env::current_dir().context("cannot determine the current folder")?)?;
    let mut tree = super::tree(&root);
    let asks = !args.yes && console.can_ask() && args.external.external_crd.is_none();
    let mut args = api::Args::from(args.clone());
    let file = ProjectFile::read(&tree)?;
    // The first version of a kind already has the controller.
    let is_known = file.resources.iter().any(|known| Some(known.kind.as_str()) == args.kind.as_deref());
    if args.is_about_names_only() && file.is_for_charts && !is_known {
        console.note(
            "`opctl init --plugins=helm`: the kind gets helm's starter chart. `--helm-chart CHART` names another one, and `--resource \
             --controller` creates a controller in Rust",
        );
        args.chart.chart = Some(String::new());
    }
    ansible::check(&args)?;
    if args.ansible.flag().is_some() {
        (args.resource, args.controller) = (Some(true), Some(true));
    }
    // Charts are fetched before the project is locked, because this is slow and may fail.
    let fetched = chart::fetch(&mut args, &console.reporter())?;
    if asks {
        // Questions come before the project is locked, so that no other command waits for the answers.
        ask(&mut args, &file, console)?;
        tree = super::tree(&root);
    }
    let _lock = lock(&root, console)?;
    let file = ProjectFile::read(&tree)?;
    let request = Request::prepare(&args, fetched, &file, &tree, &console.reporter(), |path| written(&tree, path))?;
    if let Some(earlier) = chart::earlier(&args, &request, &file, &tree, &console.reporter())? {
        return update(&request, &earlier, &file, &tree, console);
    }
    let may_be_again = args.external_crd.is_none();
    let next = match &request.copy {
        Some(_) => next_of_version(&request, &file, &tree)?,
        None => next(&request, &file),
    };
    fulfil(std::slice::from_ref(&request), may_be_again, next, &file, &tree, console)
}

/// Asks for missing values. Invalid arguments are reported first, because they require another command line.
fn ask(args: &mut api::Args, project: &ProjectFile, console: &Console) -> anyhow::Result<()> {
    let or_legal = |name: &Option<String>, legal: &str| name.clone().or_else(|| Some(legal.to_owned()));
    Names::parse(&api::Args {
        group: or_legal(&args.group, "group"),
        version: or_legal(&args.version, "v1"),
        kind: or_legal(&args.kind, "Kind"),
        ..args.clone()
    })?;
    console.ask_for(&mut args.group, &GROUP, Group::parse)?;
    console.ask_for(&mut args.version, &VERSION, Version::parse)?;
    console.ask_for(&mut args.kind, &KIND, Kind::parse)?;
    api::complete(args, project, |question, help| console.ask_yes(question, help))
}

/// Replaces the chart of a kind with another version.
fn update(
    request: &Request,
    earlier: &Request,
    file: &ProjectFile,
    tree: &Tree,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let (mut plan, kept) = plan::update(request, earlier, file, tree)?;
    for path in kept {
        console.note(&format!("kept `{path}`, which was edited"));
    }
    manifests::add_if_sound(&mut plan, tree, &manifests::ManifestOptions::of(Some(file)), console)?;
    let again = "run the same command without `--check`";
    carry_out(&Task { again, tree, folder: "", plan, next: next(request, file) }, console)
}

/// Adds the changes of all requests to the project, in one plan.
pub fn fulfil(
    requests: &[Request],
    may_be_again: bool,
    next: Vec<Next>,
    file: &ProjectFile,
    tree: &Tree,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let mut plan = plan::plan(requests, file, tree)?;
    let mut resources = requests.iter().map(|request| &request.resource);
    match may_be_again && is_again(&plan, tree, file, &resources.clone().collect::<Vec<_>>())? {
        true => keep_what_exists(&mut plan, tree, console)?,
        false => resources.try_for_each(|resource| refuse_what_exists(&plan, tree, file, resource, console))?,
    }
    manifests::refuse_taken_names(&plan, tree, "", console)?;
    manifests::add_if_sound(&mut plan, tree, &manifests::ManifestOptions::of(Some(file)), console)?;
    carry_out(&Task { again: "run the same command without `--check`", tree, folder: "", plan, next }, console)
}

/// `true` if PROJECT already contains the changes: the command was run before.
fn is_again(plan: &Plan, tree: &Tree, file: &ProjectFile, resources: &[&Resource]) -> anyhow::Result<bool> {
    let Some(Change::Edit { edits, .. }) = plan.changes.get(PROJECT) else { return Ok(false) };
    let text = tree.read(PROJECT)?.unwrap_or_default();
    let is_known = resources.iter().all(|resource| file.find(resource).is_some());
    Ok(is_known && edits.iter().all(|edit| edit.apply(&text).is_ok_and(|edited| edited == text)))
}

/// Removes files from the plan that were edited since the command was run before.
fn keep_what_exists(plan: &mut Plan, tree: &Tree, console: &Console) -> anyhow::Result<()> {
    for path in worked_on(plan, tree, console)? {
        console.note(&format!(
            "kept `{path}`, which was edited; `--overwrite {path}` drops the edits, and scaffolds it again"
        ));
        plan.changes.remove(&path);
    }
    Ok(())
}

/// Refuses to create an existing kind again if this changes one of its files.
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
    let mut refusal =
        UserError::new(format!("{name} exists already, and its files are not as these answers make them"));
    for path in &changed {
        refusal =
            refusal.help(format!("edit `{path}` by hand, or drop all of it and start over with `--overwrite {path}`"));
    }
    if !known.controller && first.starts_with("src/api/") {
        refusal = refusal.help("to add only a controller, use `--resource=false`");
    }
    Err(UserErrors(vec![refusal.help("for another version, use `--version`")]).into())
}

/// New files of the plan that exist with a different text.
pub fn worked_on(plan: &Plan, tree: &Tree, console: &Console) -> anyhow::Result<Vec<String>> {
    let steps = resolve_part(plan, tree, "", console)?;
    let is_new = |step: &Step| matches!(plan.changes.get(&step.path), Some(Change::Scaffold(_) | Change::Copy { .. }));
    Ok(steps.into_iter().filter(|step| step.is_conflict() && is_new(step)).map(|step| step.path).collect())
}

fn next(request: &Request, file: &ProjectFile) -> Vec<Next> {
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
        if file.adopted {
            next.push(Next::new("edit src/main.rs", START));
        }
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
    // The API server of `opctl dev` has no external kinds.
    if !matches!(request.resource.origin, Origin::External { .. }) {
        next.push(Next::new("opctl dev", "runs it with its own API server"));
    }
    // A built-in kind needs no CRD, and there may be none to install.
    let run = if request.resource.origin == Origin::Kubernetes { "make run" } else { "make install run" };
    next.push(Next::new(run, "runs it against the cluster of KUBECONFIG"));
    next
}

/// The call that starts scaffolded controllers in an adopted crate.
pub const START: &str = "start them: `opctl_runtime::Manager::new(opctl_runtime::operator!()).run(controller::all())`";

/// The next steps after a new version. It is not the storage version until the user changes that.
fn next_of_version(request: &Request, file: &ProjectFile, tree: &Tree) -> Result<Vec<Next>, ReadError> {
    let (resource, others) = (&request.resource, versions::others(&request.resource, file));
    let api = api_of_resource(resource);
    let mut next = vec![Next::new(format!("edit {}", api.types_file()), "change the new version")];
    match (&request.conversion, versions::stored(&others, tree)?) {
        (Some((hub, webhooks)), _) => {
            for spoke in webhooks.conversion.iter().flatten() {
                let path = webhook::conversion_file(&api_of_resource(hub), spoke);
                next.push(Next::new(format!("edit {path}"), "convert the fields whose names or types differ"));
            }
            next.push(Next::new("cargo test", "checks that conversions lose no field"));
        }
        (None, Some(stored)) => {
            let Resource { group, kind, version, .. } = stored;
            let spokes = others.iter().map(|other| &other.version).filter(|other| *other != version);
            let spokes: Vec<&str> = spokes.chain([&resource.version]).map(Version::as_str).collect();
            let spokes = spokes.join(",");
            next.push(Next::new(
                format!("opctl create webhook --group {group} --version {version} --kind {kind} --conversion --spoke {spokes}"),
                "before the versions have different fields",
            ));
        }
        (None, None) => {}
    }
    next.push(Next::new("opctl manifests", "regenerates config/crd and config/rbac"));
    next.push(Next::new("opctl manifests --against REF", "shows whom a later change of the stored version affects"));
    Ok(next)
}
