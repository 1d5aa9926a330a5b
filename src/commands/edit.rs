//! `opctl edit`: turns optional parts of a project on or off.
//!
//! The renderings of the templates with the old and the new settings are compared, and the differences are applied to
//! the user's files.

use std::collections::BTreeMap;

use anyhow::Context;
use clap::Args;

use super::{Console, Outcome, Task, carry_out, generate, kubebuilder_syntax, lock, manifests};
use crate::api::components::{KUSTOMIZATION, is_listed, listed};
use crate::api::plan::project_of;
use crate::error::{SourceErrors, UserError, UserErrors};
use crate::scaffold::webhook::{self, Admission, Server};
use crate::scaffold::{self, File, Inserted, Insertion, Project, api_of_resource};
use opctl_edit::Edit;
use opctl_edit::plan::Plan;
use opctl_model::names::Namespace;
use opctl_model::project::{Descriptions, PROJECT, ProjectFile, Tree, root_above};
use opctl_reference::dashboards;
use opctl_source as source;
use opctl_source::emit::{self, CustomResourceDefinition};

/// Turn optional parts of a project on or off
///
/// Changes only the lines that the option is about, and regenerates the manifests. Turning a part on and off again leaves the
/// project as it was. Without options, lists what is on.
#[derive(Args, Debug, Default)]
#[command(after_help = "\
Examples:
  # List what is on
  opctl edit

  # Watch only the operator's namespace, with a Role; and the whole cluster again
  opctl edit --namespaced
  opctl edit --namespaced=false

  # Show what the use of cert-manager would change
  opctl edit --cert-manager --diff

  # Generate Grafana dashboards; in CI, fail if they are out of date
  opctl edit --grafana
  opctl edit --grafana --check")]
pub struct EditArgs {
    /// Watch one namespace, with a Role, instead of the whole cluster, with a ClusterRole
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub namespaced: Option<bool>,

    /// Watch these existing namespaces, with a Role in each, e.g. team-a,team-b
    #[arg(long, value_name = "NAMESPACES", value_delimiter = ',')]
    pub watch_namespace: Vec<String>,

    /// Use certificates of cert-manager for metrics and webhooks instead of the operator's own
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub cert_manager: Option<bool>,

    /// Run two replicas, one of which leads
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub leader_election: Option<bool>,

    /// Allow only connections to metrics and webhooks
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub network_policy: Option<bool>,

    /// Have the Prometheus operator collect metrics and evaluate alerts, with a ServiceMonitor and a PrometheusRule
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub prometheus: Option<bool>,

    /// Generate Grafana dashboards in `grafana`, also of the metrics that the operator registers itself
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub grafana: Option<bool>,

    /// Those of other tools; `helm/v2-alpha` generates a chart of the operator, `grafana/v1-alpha` dashboards.
    #[arg(long, hide = true, value_name = "PLUGIN", value_delimiter = ',')]
    pub plugins: Vec<String>,

    /// The folder for that chart's folder `chart`.
    #[arg(long, hide = true, value_name = "DIR", requires = "plugins")]
    pub output_dir: Option<String>,
}

impl EditArgs {
    fn components(&self) -> [(&'static str, Option<bool>); 3] {
        [
            ("leader-election", self.leader_election),
            ("network-policy", self.network_policy),
            ("prometheus", self.prometheus),
        ]
    }

    fn wants_grafana(&self) -> Option<bool> {
        self.grafana
            .or_else(|| self.plugins.iter().any(|plugin| kubebuilder_syntax::is_grafana(plugin)).then_some(true))
    }

    fn is_about_scope(&self) -> bool {
        self.namespaced.is_some() || !self.watch_namespace.is_empty()
    }
}

pub fn run(args: &EditArgs, console: &Console) -> anyhow::Result<Outcome> {
    if args.plugins.iter().any(|plugin| kubebuilder_syntax::is_operator_chart(plugin)) {
        return generate::chart::run(&generate::chart::ChartArgs::of(args.output_dir.as_deref()), console);
    }
    let root = root_above(&std::env::current_dir().context("cannot determine the current folder")?)?;
    let tree = super::tree(&root);
    let components = args.components();
    let parts = [args.cert_manager, args.wants_grafana()].into_iter().chain(components.map(|(_, wanted)| wanted));
    if !args.is_about_scope() && parts.flatten().next().is_none() {
        list(&tree, components.map(|(name, _)| name), console)?;
        return Ok(Outcome::Done);
    }
    let _lock = lock(&root, console)?;
    let plan = plan(args, &tree, None, console)?;
    let task =
        Task { again: "run the same command without `--check`", tree: &tree, folder: "", plan, next: Vec::new() };
    carry_out(&task, console)
}

/// All changes of a project for these settings, including manifests. `crds` are those of the source, if they are known.
pub fn plan(
    args: &EditArgs,
    tree: &Tree,
    crds: Option<&[CustomResourceDefinition]>,
    console: &Console,
) -> anyhow::Result<Plan> {
    let components = args.components();
    let is_scope = args.is_about_scope();
    let file = ProjectFile::read(tree)?;
    let new = scope(args, &file)?;
    let project = project_of(&new, tree)?;
    let mut plan = Plan::default();
    if is_scope {
        let old = other_scope(&file, &new);
        edit_project(&mut plan, &old, &new);
        change(&mut plan, scoped(&project_of(&old, tree)?, &file), scoped(&project, &file));
        if !old.namespaces.is_empty() && new.namespaces.is_empty() {
            // Added again below if a marker names a namespace.
            for (key, folder) in manifests::KEEPERS {
                plan.edit(KUSTOMIZATION, listed((key, folder.to_owned()), false));
            }
        }
    }
    let mut refusals = UserErrors::default();
    for (name, wanted) in components {
        let Some(wanted) = wanted else { continue };
        if wanted && !tree.has(&format!("config/{name}/kustomization.yaml")) {
            let refusal = UserError::new(format!("the project has no `config/{name}`"));
            refusals
                .push(refusal.help(format!("restore the folder, e.g. from version control, or leave out `--{name}`")));
        }
        plan.edit(KUSTOMIZATION, listed(("components", format!("../{name}")), wanted));
    }
    if let Some(wanted) = args.cert_manager {
        if wanted && !may_be_certified(&file, tree) {
            let refusal = UserError::new("the project has no `config/certmanager`");
            refusals.push(refusal.help("leave out `--cert-manager`: an adopted operator brings its own certificates"));
        }
        certify(&mut plan, tree, &project, wanted);
    }
    if let Some(wanted) = args.wants_grafana() {
        dashboards(&mut plan, tree, file.name.as_str(), wanted, console)?;
    }
    refusals.settle()?;
    manifests::add_with_crds(&mut plan, tree, &manifests::ManifestOptions::of(Some(&new)), crds, console)?;
    Ok(plan)
}

/// Generates the dashboards, or removes those that opctl generated.
pub fn dashboards(plan: &mut Plan, tree: &Tree, name: &str, wanted: bool, console: &Console) -> anyhow::Result<()> {
    let header = format!("{}`opctl edit --grafana` makes it.", emit::OURS);
    let mut custom = None;
    if wanted {
        let (metrics, warnings) = source::read_metrics(tree, "").map_err(|error| SourceErrors::from(vec![error]))?;
        console.diagnose(&warnings);
        plan.generate(DASHBOARD, dashboards::operator(name, tree.has(webhook::LIST), &header));
        custom = (!metrics.is_empty()).then(|| dashboards::custom(name, &metrics, &header));
    } else {
        plan.prune(DASHBOARD);
    }
    match custom {
        Some(text) => plan.generate(OWN_METRICS, text),
        None => plan.prune(OWN_METRICS),
    }
    Ok(())
}

pub const DASHBOARD: &str = "grafana/operator.json";
const OWN_METRICS: &str = "grafana/custom.json";

/// Shows each setting as the option that sets it.
fn list(tree: &Tree, components: [&str; 3], console: &Console) -> anyhow::Result<()> {
    let file = ProjectFile::read(tree)?;
    let kustomization = tree.read(KUSTOMIZATION)?.unwrap_or_default();
    let is_listed = |folder: &str| is_listed(&kustomization, folder);
    let mut options = vec![format!("--namespaced={}", file.namespaced)];
    if !file.namespaces.is_empty() {
        let names: Vec<&str> = file.namespaces.iter().map(Namespace::as_str).collect();
        options.push(format!("--watch-namespace={}", names.join(",")));
    }
    options.push(format!("--cert-manager={}", is_listed("certmanager")));
    options.extend(components.map(|name| format!("--{name}={}", is_listed(name))));
    options.push(format!("--grafana={}", tree.has(DASHBOARD)));
    console.print(&(options.join("\n") + "\n"));
    Ok(())
}

/// The project with the requested scope.
fn scope(args: &EditArgs, file: &ProjectFile) -> Result<ProjectFile, UserErrors> {
    let mut new = file.clone();
    let mut refusals = UserErrors::default();
    match (args.namespaced, &args.watch_namespace[..]) {
        (Some(false), [_, ..]) => refusals.push(
            UserError::new("`--watch-namespace` requires a namespaced operator, but `--namespaced=false` is given")
                .help("leave out one of the two"),
        ),
        (Some(false), []) => (new.namespaced, new.namespaces) = (false, Vec::new()),
        (None, []) => {}
        (Some(true), []) => new.namespaced = true,
        (_, names) => {
            let names = names.iter().filter_map(|name| refusals.check(Namespace::parse(name)));
            (new.namespaced, new.namespaces) = (true, names.collect());
            new.namespaces.sort();
            new.namespaces.dedup();
        }
    }
    refusals.settle().map(|()| new)
}

/// The project to compare the new one with. If PROJECT was edited by hand, the other files may still have to change.
fn other_scope(file: &ProjectFile, new: &ProjectFile) -> ProjectFile {
    if (file.namespaced, &file.namespaces) != (new.namespaced, &new.namespaces) {
        return file.clone();
    }
    ProjectFile { namespaced: !new.namespaced, namespaces: Vec::new(), ..file.clone() }
}

/// Changes PROJECT, which may contain other settings in addition to the namespaces.
fn edit_project(plan: &mut Plan, before: &ProjectFile, after: &ProjectFile) {
    let text = |file: &ProjectFile, namespaces: &[Namespace]| {
        ProjectFile::text(&file.name, &file.domain, file.namespaced, namespaces)
    };
    let settings = |file: &ProjectFile| {
        let text = text(file, &file.namespaces);
        let lines = text.split_inclusive('\n').filter(|line| line.starts_with("  "));
        format!("manifests:\n{}", lines.collect::<String>())
    };
    let edits = match after.descriptions == Descriptions::default() {
        true => vec![(text(before, &before.namespaces), text(after, &after.namespaces))],
        false => vec![(text(before, &[]), text(after, &[])), (settings(before), settings(after))],
    };
    for (before, after) in edits.into_iter().filter(|(before, after)| before != after) {
        plan.edit(PROJECT, Edit::Lines { before, after });
    }
}

/// The files other than PROJECT that depend on the watched namespaces.
fn scoped(project: &Project, file: &ProjectFile) -> Vec<File> {
    let mut files = scaffold::init(project);
    for resource in &file.resources {
        let (api, has) = (api_of_resource(resource), &resource.webhooks);
        for (admission, has, path) in [
            (Admission::Defaulting, has.defaulting, &has.defaulting_path),
            (Admission::Validation, has.validation, &has.validation_path),
        ] {
            if has {
                let path = path.clone().unwrap_or_else(|| admission.path(project, &api));
                let admissions = vec![(admission, path)];
                let wanted = webhook::Webhooks { server: None, admissions, conversion: None };
                files.extend(webhook::webhooks(project, &api, &wanted).files);
            }
        }
    }
    files
}

/// Applies the differences between two renderings of the same files.
fn change(plan: &mut Plan, before: Vec<File>, after: Vec<File>) {
    let after: BTreeMap<String, String> = after.into_iter().map(|file| (file.path, file.text)).collect();
    for File { path, text } in before {
        if let Some(after) = after.get(&path).filter(|after| **after != text) {
            plan.edit(path, Edit::Lines { before: text, after: after.clone() });
        }
    }
}

/// `true` if `--cert-manager` is supported. Only a scaffolded operator is known to read certificates from files, so
/// opctl does not create the manifests for certificates in an adopted crate.
pub fn may_be_certified(file: &ProjectFile, tree: &Tree) -> bool {
    !file.adopted || tree.has("config/certmanager/kustomization.yaml")
}

/// Makes metrics and webhooks use certificates of cert-manager, or else the operator's own.
pub fn certify(plan: &mut Plan, tree: &Tree, project: &Project, wanted: bool) {
    let mut files = scaffold::init(project);
    let mut insertions = scaffold::cert_manager().to_vec();
    if tree.has(webhook::LIST) {
        let [own, certified] =
            [Server::OwnCertificate, Server::CertManager].map(|server| webhook::server(project, server));
        let is_about = |insertion: &Insertion| {
            insertion.path.starts_with(CERTIFICATES) && wanted || !own.insertions.contains(insertion)
        };
        insertions.extend(certified.insertions.into_iter().filter(is_about));
        files.extend(certified.files.clone());
        let (before, after) = if wanted { (own.files, certified.files) } else { (certified.files, own.files) };
        change(plan, before, after);
    }
    let missing = files.into_iter().filter(|file| file.path.starts_with(CERTIFICATES) && !tree.has(&file.path));
    for file in missing.filter(|_| wanted) {
        plan.scaffold(file.path, file.text);
    }
    for Insertion { path, what, .. } in insertions {
        let Inserted::YamlItem { key, item } = what else { continue };
        // The project has no ServiceMonitor without this file.
        if path.starts_with("config/prometheus/") && !tree.has(&path) {
            continue;
        }
        plan.edit(path, listed((key, item), wanted));
    }
}

const CERTIFICATES: &str = "config/certmanager/";
