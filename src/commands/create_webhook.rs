//! `opctl create webhook`: creates a defaulting, validating or conversion webhook of a kind.

use anyhow::Context;
use clap::{ArgAction, Args};
use clap_complete::engine::ArgValueCandidates;

use super::create_api::worked_on;
use super::edit;
use super::questions::{GROUP, KIND, VERSION, choose_resource};
use super::{Console, Next, Outcome, Task, carry_out, lock, manifests};
use crate::api::components::{KUSTOMIZATION, is_listed};
use crate::api::plan::{add_rendered, enter, project_of};
use crate::api::{self, Names, adopted, external, list, subject};
use crate::commands::complete;
use crate::error::{UserError, UserErrors};
use crate::scaffold::webhook::{self, Admission, Server};
use crate::scaffold::{self, Api, api_of_resource};
use opctl_edit::plan::Plan;
use opctl_model::names::{Group, Kind, Version, nearest};
use opctl_model::project::builtin::Builtin;
use opctl_model::project::{Origin, ProjectFile, ReadError, Resource, Tree, root_above};

/// Create a defaulting, validating or conversion webhook
///
/// For a kind of this project, of Kubernetes, or of another project. A second run adds to the first one. Prompts for missing
/// values on a terminal.
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "\
Examples:
  # A defaulting and a validating webhook
  opctl create webhook --group cache --version v1alpha1 --kind Memcached --defaulting --validation

  # Serve v1 and v1beta1 too, and convert them; objects are stored as v1alpha1
  opctl create webhook --group cache --version v1alpha1 --kind Memcached --conversion --spoke v1beta1,v1

  # A defaulting webhook for all Pods of the cluster
  opctl create webhook --group core --version v1 --kind Pod --defaulting

  # An external type
  opctl create webhook --external-type cert_manager::Certificate --group cert-manager.io --version v1 --kind Certificate --validation")]
pub struct CreateWebhookArgs {
    /// The group, as with `create api`
    #[arg(long, add = ArgValueCandidates::new(complete::groups))]
    pub group: Option<String>,

    /// The version; with --conversion, the storage version (the hub)
    #[arg(long, add = ArgValueCandidates::new(complete::versions))]
    pub version: Option<String>,

    /// The kind
    #[arg(long, add = ArgValueCandidates::new(complete::kinds))]
    pub kind: Option<String>,

    /// The plural of the kind, as with `create api`
    #[arg(long)]
    pub plural: Option<String>,

    /// Scaffold a defaulting (mutating) webhook
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t, hide_default_value = true, action = ArgAction::Set)]
    pub defaulting: bool,

    /// Scaffold a validating webhook
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t, hide_default_value = true, action = ArgAction::Set, visible_alias = "programmatic-validation")]
    pub validation: bool,

    /// Scaffold a conversion webhook: each spoke to the hub and back
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t, hide_default_value = true, action = ArgAction::Set)]
    pub conversion: bool,

    /// A version to convert to and from the hub (repeatable, or comma-separated)
    #[arg(long = "spoke", value_name = "VERSION", value_delimiter = ',')]
    pub spokes: Vec<String>,

    /// The path of the defaulting webhook [default: /mutate-GROUP-VERSION-KIND]
    #[arg(long, value_name = "PATH")]
    pub defaulting_path: Option<String>,

    /// The path of the validating webhook [default: /validate-GROUP-VERSION-KIND]
    #[arg(long, value_name = "PATH")]
    pub validation_path: Option<String>,

    /// Use certificates of cert-manager, also for metrics [default: as `opctl edit --cert-manager` chose; at first the
    /// operator's own]
    #[arg(long)]
    pub cert_manager: bool,

    /// The Rust type of an external kind, which implements `kube::Resource`
    #[arg(long, value_name = "PATH")]
    pub external_type: Option<String>,

    /// The external kind is namespaced [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", requires = "external_type")]
    pub namespaced: Option<bool>,

    /// Never prompt
    #[arg(short, long)]
    pub yes: bool,
}

pub fn run(args: &CreateWebhookArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = root_above(&std::env::current_dir().context("cannot determine the current folder")?)?;
    let mut args = args.clone();
    if !args.yes && console.can_ask() {
        // Questions come before the project is locked, so that no other command waits for the answers.
        ask(&mut args, &ProjectFile::read(&super::tree(&root))?, console)?;
    }
    let tree = super::tree(&root);
    let _lock = lock(&root, console)?;
    let file = ProjectFile::read(&tree)?;
    if let Some(path) = &args.external_type {
        external::refuse_unknown_crate(path, &tree)?;
    }
    let project = project_of(&file, &tree)?;
    let request = Request::new(&args, &file, &project, &tree)?;
    adopted::refuse_type_of_macro(&request.resource)?;
    if args.validation {
        console.note(&instead_of_validation(&request.resource, &tree));
    }
    let mut plan = Plan::default();
    if request.webhooks.server == Some(Server::CertManager) {
        edit::certify(&mut plan, &tree, &project, true);
    }
    add_rendered(&mut plan, webhook::webhooks(&project, &api_of_resource(&request.resource), &request.webhooks));
    enter(&mut plan, request.resource.fields());
    adopted::refuse(&plan, &project, &tree)?;
    adopted::complete(&mut plan, &project, &tree);
    refuse_what_exists(&plan, &tree, console)?;
    manifests::add_if_sound(&mut plan, &tree, &manifests::ManifestOptions::of(Some(&file)), console)?;
    let mut next = next(&request);
    if request.webhooks.server.is_some() && tree.has(edit::DASHBOARD) {
        next.push(Next::new("opctl edit --grafana", "adds the webhooks to the dashboard"));
    }
    carry_out(&Task { again: "run the same command without `--check`", tree: &tree, folder: "", plan, next }, console)
}

/// A request that the project can fulfil.
struct Request {
    /// The new entry of PROJECT.
    resource: Resource,
    webhooks: webhook::Webhooks,
}

impl Request {
    /// Validates the arguments against each other and against the project. All errors are reported at once.
    fn new(
        args: &CreateWebhookArgs,
        file: &ProjectFile,
        project: &scaffold::Project,
        tree: &Tree,
    ) -> anyhow::Result<Self> {
        let mut refusals = flags(args);
        let names = match Names::parse(&named(args)) {
            Ok(names) => names,
            Err(UserErrors(more)) => {
                refusals.0.extend(more);
                return Err(refusals.into());
            }
        };
        let Some(mut resource) = refusals.check(subject(args, &names, file)) else { return Err(refusals.into()) };
        if let (Some(plural), known) = (&names.plural, api_of_resource(&resource).plural())
            && *plural != known
        {
            let refusal = UserError::new(format!("the plural of `{}` is `{known}`, not `{plural}`", resource.kind));
            refusals.push(refusal.help("leave out `--plural`"));
        }
        let (api, id) = (api_of_resource(&resource), resource.clone());
        let server = server(args, tree, &mut refusals)?;
        let mut admissions = Vec::new();
        for (admission, wanted, given_path) in [
            (Admission::Defaulting, args.defaulting, &args.defaulting_path),
            (Admission::Validation, args.validation, &args.validation_path),
        ] {
            if !wanted {
                continue;
            }
            let webhooks = &mut resource.webhooks;
            let (exists, kept) = match admission {
                Admission::Defaulting => (&mut webhooks.defaulting, &mut webhooks.defaulting_path),
                Admission::Validation => (&mut webhooks.validation, &mut webhooks.validation_path),
            };
            let usual = admission.path(project, &api);
            let path = given_path.clone().or_else(|| kept.clone()).unwrap_or_else(|| usual.clone());
            if let Some(refusal) = unfit_path(&path, file, project, (&id, admission)) {
                refusals.push(refusal);
            }
            *exists = true;
            *kept = Some(path.clone()).filter(|path| *path != usual);
            admissions.push((admission, path));
        }
        if let [(_, one), (_, other)] = &admissions[..]
            && one == other
        {
            refusals.push(
                UserError::new(format!("both webhooks would be served at `{one}`"))
                    .help("choose another `--defaulting-path` or `--validation-path`"),
            );
        }
        let conversion = args.conversion.then(|| spokes(args, &mut resource, file, &mut refusals));
        refusals.settle()?;
        Ok(Self { resource, webhooks: webhook::Webhooks { server, admissions, conversion } })
    }
}

/// The errors in the flags that do not depend on the project.
fn flags(args: &CreateWebhookArgs) -> UserErrors {
    let mut refusals = UserErrors::default();
    if !args.defaulting && !args.validation && !args.conversion {
        refusals.push(
            UserError::new("nothing to create: no type of webhook given")
                .help("use one or more of `--defaulting`, `--validation` and `--conversion`"),
        );
    }
    for (flag, is_given, about, is_requested) in [
        ("--defaulting-path", args.defaulting_path.is_some(), "--defaulting", args.defaulting),
        ("--validation-path", args.validation_path.is_some(), "--validation", args.validation),
        ("--spoke", !args.spokes.is_empty(), "--conversion", args.conversion),
    ] {
        if is_given && !is_requested {
            refusals.push(
                UserError::new(format!("`{flag}` requires `{about}`"))
                    .help(format!("add `{about}`, or leave out `{flag}`")),
            );
        }
    }
    if args.conversion && args.spokes.is_empty() {
        refusals.push(
            UserError::new("`--conversion` needs to know which versions are converted to this one")
                .help("name them, e.g. `--spoke v1beta1,v1`"),
        );
    }
    refusals
}

/// The names as arguments of `create api`.
fn named(args: &CreateWebhookArgs) -> api::Args {
    let CreateWebhookArgs { group, version, kind, plural, .. } = args.clone();
    api::Args { group, version, kind, plural, ..api::Args::default() }
}

/// The kind of the arguments: its existing or new entry of PROJECT.
fn subject(args: &CreateWebhookArgs, names: &Names, file: &ProjectFile) -> Result<Resource, UserError> {
    if let Some(path) = &args.external_type {
        return external::of_type(path, names, args.namespaced, file);
    }
    let own = subject::own(file, names, &named(args));
    if let Some(known) = file.find(&own).or_else(|| external::known(names, file)) {
        if args.conversion && known.is_adopted() {
            let refusal = UserError::new(format!(
                "conversions are scaffolded beside the types, and opctl did not scaffold `{}`",
                known.kind
            ));
            return Err(refusal.help("write the conversion by hand, and declare it with `// +opctl:conversion:…`: see docs/reference/markers.md"));
        }
        return Ok(known.clone());
    }
    let (group, version, kind) = (names.group.as_str(), names.version.as_str(), names.kind.as_str());
    if Builtin::find(group, version, kind).is_some() {
        return subject::kubernetes_type(names, file);
    }
    let versions = file.resources.iter().filter(|other| other.is_same_kind(&own)).map(|other| other.version.as_str());
    let versions: Vec<&str> = versions.collect();
    let refusal =
        UserError::new(format!("PROJECT has no `{kind}` in `{group}/{version}`, and Kubernetes itself has none"));
    Err(match versions[..] {
        [] => match nearest(kind, file.resources.iter().map(|other| other.kind.as_str())) {
            Some(near) => refusal.help(format!("did you mean `--kind {near}`?")),
            None => refusal,
        }
        .help(format!("create it first: `opctl create api --group {group} --version {version} --kind {kind}`"))
        .help("for an external kind, give its type with `--external-type`"),
        _ => refusal.help(format!("it has the versions {}", list(versions.into_iter()))).help(format!(
            "create this one first: `opctl create api --group {group} --version {version} --kind {kind}`"
        )),
    })
}

/// The webhook server, unless the project already has one.
fn server(args: &CreateWebhookArgs, tree: &Tree, refusals: &mut UserErrors) -> Result<Option<Server>, ReadError> {
    if !tree.has(webhook::LIST) {
        let kustomization = tree.read(KUSTOMIZATION)?;
        let is_certified = kustomization.is_some_and(|text| is_listed(&text, "certmanager"));
        let is_certified = args.cert_manager || is_certified;
        return Ok(Some(if is_certified { Server::CertManager } else { Server::OwnCertificate }));
    }
    if args.cert_manager {
        refusals.push(
            UserError::new("`--cert-manager` is for the first webhook, and this project has some")
                .help("leave it out; `opctl edit --cert-manager` switches to it"),
        );
    }
    Ok(None)
}

/// The reason why a webhook cannot be served at `path`.
fn unfit_path(
    path: &str,
    file: &ProjectFile,
    project: &scaffold::Project,
    (id, its): (&Resource, Admission),
) -> Option<UserError> {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || "-._~/".contains(c);
    if !path.starts_with('/') || path.len() == 1 || path.ends_with('/') || !path.chars().all(is_legal) {
        return Some(
            UserError::new(format!("invalid path `{path}`"))
                .help("use `/` and words of letters, digits, `-`, `.`, `_` and `~`"),
        );
    }
    if path == webhook::CONVERT {
        return Some(UserError::new(format!("`{path}` is the path of conversions")).help("choose another path"));
    }
    let taken = file.resources.iter().find(|other| {
        let api = api_of_resource(other);
        let webhooks = &other.webhooks;
        let serves = |admission: Admission, exists: bool, configured: &Option<String>| {
            let is_itself = admission == its && other.is_same(id);
            exists && !is_itself && *configured.as_ref().unwrap_or(&admission.path(project, &api)) == path
        };
        serves(Admission::Defaulting, webhooks.defaulting, &webhooks.defaulting_path)
            || serves(Admission::Validation, webhooks.validation, &webhooks.validation_path)
    })?;
    Some(
        UserError::new(format!("`{path}` is that of a webhook of `{}` in {} already", taken.kind, taken.version))
            .help("choose another path"),
    )
}

/// The new spokes of the hub. Every version of a kind must be a spoke or the hub, because the API server stores one
/// version.
fn spokes(args: &CreateWebhookArgs, hub: &mut Resource, file: &ProjectFile, refusals: &mut UserErrors) -> Vec<Version> {
    let kind = hub.kind.clone();
    if hub.origin != Origin::Own {
        refusals.push(
            UserError::new(format!("`{kind}` is served by others, who convert its versions"))
                .help("leave out `--conversion` and `--spoke`"),
        );
        return Vec::new();
    }
    let versions = || file.resources.iter().filter(|other| other.is_same_kind(hub) && other.api.is_some());
    if let Some(other) = versions().find(|other| !other.webhooks.spokes.is_empty() && other.version != hub.version) {
        refusals.push(
            UserError::new(format!("the hub of `{kind}` is {} already", other.version))
                .help(format!("use `--version {}`", other.version)),
        );
    }
    let mut new: Vec<Version> = Vec::new();
    for text in &args.spokes {
        let Some(version) = refusals.check(Version::parse(text)) else { continue };
        let problem = if version == hub.version {
            UserError::new(format!("{version} is the hub, and no spoke of itself")).help("leave it out of `--spoke`")
        } else if new.contains(&version) {
            UserError::new(format!("`--spoke` has {version} twice")).help("leave one of them out")
        } else if versions().all(|other| other.version != version) {
            UserError::new(format!("`{kind}` has no version {version}")).help(format!(
                "create it first: `opctl create api --group {} --version {version} --kind {kind}`",
                hub.group
            ))
        } else {
            new.push(version);
            continue;
        };
        refusals.push(problem);
    }
    let left: Vec<&str> = versions()
        .map(|other| &other.version)
        .filter(|version| **version != hub.version && !new.contains(version) && !hub.webhooks.spokes.contains(version))
        .map(Version::as_str)
        .collect();
    if !left.is_empty() && !args.spokes.is_empty() {
        refusals.push(
            UserError::new(format!(
                "`{kind}` has {} as well, which would not be converted",
                list(left.iter().copied())
            ))
            .help(format!("add `--spoke {}`", left.join(","))),
        );
    }
    let is_new = |version: &&Version| !hub.webhooks.spokes.contains(version);
    let added: Vec<Version> = new.iter().filter(is_new).cloned().collect();
    hub.webhooks.spokes.extend(added);
    new
}

/// Refuses to create an existing webhook again if this changes one of its files.
fn refuse_what_exists(plan: &Plan, tree: &Tree, console: &Console) -> anyhow::Result<()> {
    let mut refusals = UserErrors::default();
    for path in worked_on(plan, tree, console)? {
        refusals.push(
            UserError::new(format!("`{path}` exists already, and was edited"))
                .help("leave it out of what is asked for, and edit it by hand")
                .help(format!("or drop all of it and start over with `--overwrite {path}`")),
        );
    }
    Ok(refusals.settle()?)
}

/// An alternative without a webhook, which needs no server, certificate or additional request.
fn instead_of_validation(resource: &Resource, tree: &Tree) -> String {
    match resource.origin {
        Origin::Own => format!(
            "a rule about a single object needs no webhook: `#[x_kube(validation = …)]` in `{}` adds it to the CRD. Use a webhook if \
             the rule needs other objects",
            adopted::types_file(resource, tree).0
        ),
        Origin::Kubernetes | Origin::External { .. } => {
            "a rule about a single object needs no webhook: a ValidatingAdmissionPolicy works for any kind. Use a webhook if the rule \
             needs other objects"
                .into()
        }
    }
}

/// Asks for missing values.
fn ask(args: &mut CreateWebhookArgs, file: &ProjectFile, console: &Console) -> anyhow::Result<()> {
    let has_type = args.defaulting || args.validation || args.conversion;
    if args.external_type.is_none() {
        let names = [&mut args.group, &mut args.version, &mut args.kind];
        choose_resource(names, Some("another kind: of Kubernetes, or of another project"), file, console)?;
    }
    console.ask_for(&mut args.group, &GROUP, Group::parse)?;
    console.ask_for(&mut args.version, &VERSION, Version::parse)?;
    console.ask_for(&mut args.kind, &KIND, Kind::parse)?;
    let resource = subject(args, &Names::parse(&named(args))?, file)?;
    if !has_type {
        args.defaulting = !resource.webhooks.defaulting
            && console.ask_yes("Create Defaulting Webhook", "it sets fields before an object is stored")?;
        args.validation = !resource.webhooks.validation
            && console.ask_yes("Create Validation Webhook", "it rejects objects before they are stored")?;
    }
    Ok(())
}

fn next(request: &Request) -> Vec<Next> {
    let api: Api = api_of_resource(&request.resource);
    let mut next: Vec<Next> = Vec::new();
    for (admission, _) in &request.webhooks.admissions {
        let purpose = match admission {
            Admission::Defaulting => "set the defaults",
            Admission::Validation => "validate objects, and warn users",
        };
        next.push(Next::new(format!("edit {}", webhook::file(&api, admission.module())), purpose));
    }
    for spoke in request.webhooks.conversion.iter().flatten() {
        next.push(Next::new(format!("edit {}", webhook::conversion_file(&api, spoke)), "convert each field"));
    }
    if request.webhooks.conversion.is_some() {
        next.push(Next::new("cargo test", "checks that conversions lose no field"));
    }
    next.push(Next::new("opctl manifests", "regenerates config/webhook and config/rbac"));
    next.push(Next::new("make run", "serves it to the API server of KUBECONFIG"));
    next
}
