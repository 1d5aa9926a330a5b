//! `opctl doctor`: checks everything that a project needs, and suggests a command that fixes each problem.
//!
//! Each section is a file, which first gathers facts and then passes them to pure functions, so that their tests are tables. Nothing is written, and no check waits for another to pass.

mod capabilities;
pub mod cluster;
mod drift;
mod project;
pub mod rights;
mod runtime;
mod toolchain;
mod versions;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use super::console::Verbosity;
use super::findings::{self, Finding, Section, Severity};
use super::{Console, Outcome, manifests};
use crate::api::{ansible, chart};
use crate::commands::kubectl::ContextArgs;
use opctl_model::project::{ProjectError, ProjectFile, Resource, Tree, root_above};
use opctl_source::dependencies;

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

  # Which capability level of the Operator Framework the operator reaches, and what the next one needs
  opctl doctor --capabilities")]
pub struct DoctorArgs {
    /// The folder of a crate [default: the project or the crate around the current folder]
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,

    /// Skip the checks that need a cluster
    #[arg(long, conflicts_with_all = ["context", "kubeconfig"])]
    pub offline: bool,

    /// Answer the questions of the Operator Framework's capability levels instead
    ///
    /// As far as the source and the manifests decide them; no cluster is needed. Exits 1 if the chart or the bundle of the operator
    /// claims a level that it does not reach.
    #[arg(long, conflicts_with_all = ["offline", "context", "kubeconfig", "kubectl"])]
    pub capabilities: bool,

    #[command(flatten)]
    pub context: ContextArgs,
}

/// The project or crate to diagnose.
pub struct Target {
    tree: Tree,
    /// `None`: neither a project nor a crate.
    root: Option<PathBuf>,
    /// What PROJECT says; `Ok(None)` where there is none.
    project: Result<Option<ProjectFile>, ProjectError>,
}

impl Target {
    fn needs(&self) -> toolchain::Needs {
        let project = self.project.as_ref().ok().and_then(Option::as_ref);
        let any = |is: fn(&Resource) -> bool| project.is_some_and(|project| project.resources.iter().any(is));
        toolchain::Needs {
            helm: any(|resource| chart::folder_of(resource).is_some()),
            ansible: any(|resource| ansible::source_of(resource).is_some()),
        }
    }

    /// The crate at the path; else the project, or the crate, around the current folder.
    fn at(path: Option<&Path>) -> anyhow::Result<Self> {
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
        Ok(Self { tree, root, project })
    }

    /// The argument with which `opctl init` works on it: none in its folder.
    fn folder(&self) -> String {
        let current = std::env::current_dir().unwrap_or_default();
        self.root
            .as_ref()
            .filter(|root| **root != current)
            .map(|root| format!(" {}", root.display()))
            .unwrap_or_default()
    }

    /// The argument with which `opctl manifests` and `opctl check` work on it: none within a project.
    fn here(&self) -> String {
        let current = std::env::current_dir().unwrap_or_default();
        match (&self.project, &self.root) {
            (_, None) => String::new(),
            (Ok(None), Some(root)) if current == *root => " --path .".into(),
            (Ok(Some(_)) | Err(_), Some(root)) if current.starts_with(root) => String::new(),
            (_, Some(root)) => format!(" --path {}", root.display()),
        }
    }
}

pub fn run(args: &DoctorArgs, console: &Console) -> anyhow::Result<Outcome> {
    let target = Target::at(args.path.as_deref())?;
    if args.capabilities {
        return capabilities::run(&target, console);
    }
    let Target { tree, .. } = &target;
    let section = |title, findings| Section { title, findings };
    let packages = match target.root.is_some() && tree.has("Cargo.toml") {
        true => dependencies::read(tree, ""),
        false => Ok(Vec::new()),
    };
    let built = packages.as_ref().map(Vec::as_slice).unwrap_or_default();
    let kubectl = args.context.kubectl();
    let mut sections = vec![section("toolchain", toolchain::examine(tree.root(), built, &kubectl, target.needs()))];
    if target.root.is_some() {
        sections.push(section("versions", versions::examine(&packages)));
        let runtime = runtime::examine(&target);
        if !runtime.is_empty() {
            sections.push(section("runtime", runtime));
        }
        sections.push(section("PROJECT", project::examine(&target)));
        sections.push(section("drift", drift::examine(&target, console)));
    } else {
        let what = "no project and no crate here: the toolchain and the cluster alone";
        let help = "go to the folder of one, or name it: `opctl doctor --path DIR`";
        sections.push(section("project", vec![Finding::skipped(what).help(help)]));
    }
    if args.offline {
        sections.push(section("cluster", vec![Finding::skipped("`--offline` is given")]));
    } else {
        let (findings, connection) = cluster::examine(&target, built, &kubectl);
        sections.push(section("cluster", findings));
        if let Some(connection) = connection {
            sections.push(section("rights", rights::examine(&target, &kubectl, &connection)));
        }
    }
    report(&sections, console);
    let worst = sections.iter().flat_map(|section| &section.findings).map(|finding| finding.severity).max();
    Ok(if worst == Some(Severity::Error) { Outcome::Refused } else { Outcome::Done })
}

fn report(sections: &[Section], console: &Console) {
    let least = if console.verbosity == Verbosity::Quiet { Severity::Error } else { Severity::Ok };
    console.lines(&findings::text(sections, least));
    if console.verbosity > Verbosity::Quiet {
        console.print(&format!("{}\n", findings::summary(sections)));
    }
}

/// `1.89`, `v1.36.2`, `0.29.0-alpha` → numbers; missing numbers are 0.
pub fn numbers(version: &str) -> [u64; 3] {
    let mut numbers = [0; 3];
    let version = version.trim_start_matches('v').split(['-', '+', ' ']).next().unwrap_or_default();
    for (number, text) in numbers.iter_mut().zip(version.split('.')) {
        *number = text.parse().unwrap_or_default();
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_numbers() {
        assert!(numbers("1.89") < numbers("1.100.0-nightly (abc)"));
        assert_eq!(numbers("v1.36.2+k3s1"), [1, 36, 2]);
    }
}
