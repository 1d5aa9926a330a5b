//! Checks everything that a project needs: the toolchain, dependencies, PROJECT, manifests, and the cluster.
//!
//! The input is a [`Target`], the outputs are sections of findings, each with a command that fixes it. Each section is
//! a module, which first collects facts and then passes them to pure functions, so that their tests are tables. Nothing
//! is written, and no check depends on the success of another. This module does not know arguments or the console.

pub mod capabilities;
mod cluster;
mod drift;
mod project;
mod rights;
mod runtime;
mod toolchain;
mod versions;

use std::path::PathBuf;

use opctl_charts::ansible;
use opctl_cluster::Kubectl;
use opctl_cluster::findings::{Finding, Section};
use opctl_edit::plan::Step;
use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::{ProjectError, ProjectFile, Resource, Tree};
use opctl_source::dependencies;

/// The project or crate to diagnose.
pub struct Target {
    pub tree: Tree,
    /// `None` if there is neither a project nor a crate.
    pub root: Option<PathBuf>,
    /// The PROJECT file; `Ok(None)` if there is none.
    pub project: Result<Option<ProjectFile>, ProjectError>,
    /// The folder in which suggested commands are run.
    pub current: PathBuf,
    /// Returns the chart, role or playbook that the controller of a kind runs instead of code, according to its entry
    /// in PROJECT.
    pub content_of: fn(&Resource) -> Option<Content>,
}

/// The chart, role or playbook that the controller of a kind runs instead of code.
pub enum Content {
    /// The folder of a Helm chart.
    Chart(String),
    Ansible(ansible::Source),
}

impl Target {
    fn has_content(&self, is: fn(&Content) -> bool) -> bool {
        let project = self.project.as_ref().ok().and_then(Option::as_ref);
        let resources = project.into_iter().flat_map(|project| &project.resources);
        resources.filter_map(self.content_of).any(|content| is(&content))
    }

    fn has_charts(&self) -> bool {
        self.has_content(|content| matches!(content, Content::Chart(_)))
    }

    fn has_ansible(&self) -> bool {
        self.has_content(|content| matches!(content, Content::Ansible(_)))
    }

    /// The argument for `opctl init` in suggested commands; empty in the project's folder.
    fn folder(&self) -> String {
        let other = self.root.as_ref().filter(|root| **root != self.current);
        other.map(|root| format!(" {}", root.display())).unwrap_or_default()
    }

    /// The argument for `opctl manifests` and `opctl check` in suggested commands; empty within a project.
    fn here(&self) -> String {
        match (&self.project, &self.root) {
            (_, None) => String::new(),
            (Ok(None), Some(root)) if self.current == *root => " --path .".into(),
            (Ok(Some(_)) | Err(_), Some(root)) if self.current.starts_with(root) => String::new(),
            (_, Some(root)) => format!(" --path {}", root.display()),
        }
    }
}

/// The steps that update the manifests, or the errors of the source.
pub type ManifestSteps = Result<Vec<Step>, Vec<Diagnostic>>;

/// The checks of other commands, and the environment that they run in.
pub struct Checks<'a> {
    /// The changes of `opctl manifests` without compiling. `Err` if a file cannot be read.
    pub manifests: &'a dyn Fn(Option<&ProjectFile>) -> Result<ManifestSteps, String>,
    /// The findings of `opctl check`.
    pub permissions: &'a dyn Fn(Option<&ProjectFile>) -> Permissions,
    /// The kinds of a crate without PROJECT, and their checked-in CRDs.
    pub kinds: &'a dyn Fn() -> Vec<Finding>,
    pub kubectl: &'a Kubectl,
    pub offline: bool,
    pub proxy: Proxy,
}

/// The findings of `opctl check`.
#[derive(Default)]
pub struct Permissions {
    pub findings: Vec<Diagnostic>,
    /// The crate has RBAC markers of its own.
    pub has_markers: bool,
}

/// The proxies of the environment.
pub struct Proxy {
    /// The variable with the proxy for a server, and its value.
    pub to: fn(&str) -> Option<(&'static str, String)>,
    /// The hosts that are accessed without a proxy, separated by commas.
    pub none: String,
}

pub fn examine(target: &Target, checks: &Checks) -> Vec<Section> {
    let tree = &target.tree;
    let section = |title, findings| Section { title, findings };
    let packages = match target.root.is_some() && tree.has("Cargo.toml") {
        true => dependencies::read(tree, ""),
        false => Ok(Vec::new()),
    };
    let built = packages.as_ref().map(Vec::as_slice).unwrap_or_default();
    let mut sections = vec![section("toolchain", toolchain::examine(target, built, checks.kubectl))];
    if target.root.is_some() {
        sections.push(section("versions", versions::examine(&packages)));
        let runtime = runtime::examine(target);
        if !runtime.is_empty() {
            sections.push(section("runtime", runtime));
        }
        sections.push(section("PROJECT", project::examine(target)));
        if matches!(target.project, Ok(None)) {
            sections.push(section("kinds", (checks.kinds)()));
        }
        sections.push(section("drift", drift::examine(target, checks)));
    } else {
        let what = "no project and no crate here: the toolchain and the cluster alone";
        let help = "go to the folder of one, or name it: `opctl doctor --path DIR`";
        sections.push(section("project", vec![Finding::skipped(what).help(help)]));
    }
    if checks.offline {
        sections.push(section("cluster", vec![Finding::skipped("`--offline` is given")]));
    } else {
        let (findings, connection) = cluster::examine(target, built, checks);
        sections.push(section("cluster", findings));
        if let Some(connection) = connection {
            sections.push(section("rights", rights::examine(target, checks.kubectl, &connection)));
        }
    }
    sections
}
