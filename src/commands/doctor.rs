//! `opctl doctor`: checks everything that a project needs, and suggests a command that fixes each problem. Nothing is
//! written.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use serde_json::json;

use super::console::Verbosity;
use super::kubectl::ContextArgs;
use super::manifests::ManifestOptions;
use super::output::OutputArgs;
use super::{Console, Outcome, check, environment, manifests};
use crate::api::{ansible, chart};
use crate::doctor::capabilities::{self, CapabilityError};
use crate::doctor::{self, Checks, Content, Proxy, Target};
use crate::error::SourceErrors;
use crate::kinds::{Crd, Kinds};
use opctl_cluster::findings::{self, Finding, Severity};
use opctl_model::diagnostic::Span;
use opctl_model::project::{ProjectError, ProjectFile, Resource, root_above};

/// Diagnose the toolchain, project and cluster, and suggest a fix for each problem
///
/// Checks the toolchain, the versions of dependencies, PROJECT against the files, the manifests and permissions against the
/// source, the cluster of KUBECONFIG, and what the current user may do there. Nothing is written. Exits 1 if there is an error.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # In a project or any folder below it
  opctl doctor

  # Without a cluster
  opctl doctor --offline

  # Before deploying to another cluster
  opctl doctor --context production

  # The capability level of the Operator Framework that the operator reaches, and the requirements of the next one
  opctl doctor --capabilities

  # For programs
  opctl doctor -o json | jq '.sections[].findings[] | select(.severity == \"error\")'")]
pub struct DoctorArgs {
    /// The folder of a crate [default: the project or the crate around the current folder]
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,

    /// Skip the checks that need a cluster
    #[arg(long, conflicts_with_all = ["context", "kubeconfig"])]
    pub offline: bool,

    /// Answer the questions of the Operator Framework's capability levels instead
    ///
    /// As far as the source and the manifests decide them; no cluster is needed. Exits 1 if the chart or the bundle of
    /// the operator claims a level that it does not reach.
    #[arg(long, conflicts_with_all = ["offline", "context", "kubeconfig", "kubectl", "output"])]
    pub capabilities: bool,

    #[command(flatten)]
    pub context: ContextArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// The crate at the path; otherwise the project or crate around the current folder.
fn target(path: Option<&Path>) -> anyhow::Result<Target> {
    let current = std::env::current_dir().context("cannot determine the current folder")?;
    let crate_above = || current.ancestors().find(|folder| folder.join("Cargo.toml").is_file()).map(Path::to_owned);
    let root = match path {
        Some(path) => Some(manifests::crate_at(Some(path), "doctor")?),
        None => root_above(&current).ok().or_else(crate_above),
    };
    let tree = super::tree(root.as_deref().unwrap_or(&current));
    let project = match ProjectFile::read(&tree) {
        Ok(project) => Ok(Some(project)),
        Err(ProjectError::Missing(_)) => Ok(None),
        Err(error) => Err(error),
    };
    Ok(Target { tree, root, project, current, content_of })
}

fn content_of(resource: &Resource) -> Option<Content> {
    let chart = chart::folder_of(resource).map(|folder| Content::Chart(chart::path_of(folder)));
    chart.or_else(|| ansible::source_of(resource).map(Content::Ansible))
}

pub fn run(args: &DoctorArgs, console: &Console) -> anyhow::Result<Outcome> {
    let target = target(args.path.as_deref())?;
    if args.capabilities {
        return report_capabilities(&target, console);
    }
    let checks = Checks {
        manifests: &|project| {
            manifests::steps(&target.tree, &ManifestOptions::of(project), console).map_err(|error| format!("{error:#}"))
        },
        permissions: &|project| check::findings(&target.tree, project),
        kinds: &|| kinds(&target),
        kubectl: &args.context.kubectl(),
        offline: args.offline,
        proxy: Proxy { to: environment::proxy_to, none: environment::no_proxy() },
    };
    let sections = doctor::examine(&target, &checks);
    let outcome = if findings::worst(&sections) == Some(Severity::Error) { Outcome::Problems } else { Outcome::Done };
    if args.output.is_json() {
        console.print(&format!("{:#}\n", json!({ "sections": findings::json(&sections) })));
        return Ok(outcome);
    }
    let is_quiet = console.verbosity == Verbosity::Quiet;
    console.lines(&findings::text(&sections, if is_quiet { Severity::Error } else { Severity::Ok }));
    if !is_quiet {
        console.print(&format!("{}\n", findings::summary(&sections)));
    }
    Ok(outcome)
}

/// Findings about the identities of the kinds, compared with checked-in CRDs. opctl compares whole CRDs if it can
/// derive them.
fn kinds(target: &Target) -> Vec<Finding> {
    let read = match Kinds::read(&target.tree, None) {
        Ok(read) => read,
        Err(error) => return vec![Finding::error(format!("{error:#}"))],
    };
    let root = format!("{}/", target.tree.root().display());
    let place = |span: &Span| span.to_string().trim_start_matches(&*root).to_owned();
    let mut found = Vec::new();
    for kind in &read.kinds {
        let first = &kind.versions[0];
        let versions: Vec<&str> = kind.versions.iter().map(|it| it.version.as_str()).collect();
        let name = format!("`{}` {} (`{}`)", first.kind, versions.join(", "), first.crd());
        match &kind.crd {
            Crd::Derived(_) => found.push(Finding::ok(name)),
            Crd::Copy(_, span) => match &kind.differences()[..] {
                [] => found.push(Finding::ok(format!("{name}, with a CRD at {}", place(span)))),
                differences => {
                    let what = format!("the CRD of {name} differs: {}", differences.join(", "));
                    found.push(Finding::error(what).at(place(span)).help("generate it again"));
                }
            },
            Crd::Unknown => {}
        }
    }
    let unknown: Vec<String> = read.unknown().iter().map(|kind| format!("`{}`", kind.name())).collect();
    if !unknown.is_empty() {
        let why = read.reasons.first().map(|reason| format!(": {}", reason.message)).unwrap_or_default();
        let what = format!("neither derived nor found: the CRDs of {}{why}", unknown.join(", "));
        found.push(
            Finding::skipped(what)
                .help(format!("opctl manifests --path {} --engine cargo", target.tree.root().display())),
        );
    }
    found.extend(read.unused_copies.into_iter().map(Finding::warning));
    if found.is_empty() {
        found.push(Finding::skipped("the crate declares none"));
    }
    found
}

fn report_capabilities(target: &Target, console: &Console) -> anyhow::Result<Outcome> {
    let report = capabilities::examine(target).map_err(failure)?;
    console.lines(&report.levels);
    console.print(&format!("{}\n", report.summary));
    let problems = report.false_claims(&target.tree).map_err(failure)?;
    problems.iter().for_each(|problem| console.print(&format!("{} {problem}\n", Severity::Error.word())));
    Ok(if problems.is_empty() { Outcome::Done } else { Outcome::Problems })
}

fn failure(error: CapabilityError) -> anyhow::Error {
    match error {
        CapabilityError::Source(diagnostics) => SourceErrors::from(diagnostics).into(),
        CapabilityError::Project(error) => error.into(),
        CapabilityError::Read(error) => error.into(),
    }
}
