//! `opctl doctor`: checks everything that a project needs, and suggests a command that fixes each problem.
//!
//! Each section is a file, which first gathers facts and then passes them to pure functions, so that their tests are tables. Nothing is written, and no check waits for another to pass.

mod capabilities;
mod cluster;
mod drift;
mod project;
mod rights;
mod runtime;
mod toolchain;
mod versions;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use super::console::Verbosity;
use super::{Console, Outcome, ansible, chart, counted, kubectl, manifests};
use crate::commands::kubectl::KubectlArgs;
use crate::diagnostic::Diagnostic;
use crate::project::{ProjectError, ProjectFile, Resource, Tree, root_above};
use crate::source::dependencies;

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
    #[arg(long)]
    pub offline: bool,

    /// The context of the kubeconfig [default: the current one]
    #[arg(long, value_name = "NAME", conflicts_with = "offline")]
    pub context: Option<String>,

    /// Answer the questions of the Operator Framework's capability levels instead
    ///
    /// As far as the source and the manifests decide them; no cluster is needed. Exits 1 if the chart or the bundle of the operator
    /// claims a level that it does not reach.
    #[arg(long, conflicts_with_all = ["offline", "context", "kubectl"])]
    pub capabilities: bool,

    #[command(flatten)]
    pub program: KubectlArgs,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    severity: Severity,
    /// The file that it is about, if it is about one.
    location: Option<String>,
    what: String,
    /// Commands, each of which fixes it; where there is none, what to do.
    help: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    Ok,
    /// It could not be checked, or there was nothing to check.
    Skipped,
    Warning,
    Error,
}

impl Severity {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Finding {
    fn new(severity: Severity, what: impl Into<String>) -> Self {
        Self { severity, location: None, what: what.into(), help: Vec::new() }
    }

    fn ok(what: impl Into<String>) -> Self {
        Self::new(Severity::Ok, what)
    }

    fn skipped(what: impl Into<String>) -> Self {
        Self::new(Severity::Skipped, what)
    }

    fn warning(what: impl Into<String>) -> Self {
        Self::new(Severity::Warning, what)
    }

    fn error(what: impl Into<String>) -> Self {
        Self::new(Severity::Error, what)
    }

    fn at(self, location: impl Into<String>) -> Self {
        Self { location: Some(location.into()), ..self }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

impl From<&Diagnostic> for Finding {
    fn from(diagnostic: &Diagnostic) -> Self {
        let severity = if diagnostic.is_error() { Severity::Error } else { Severity::Warning };
        let location = diagnostic.span.as_ref().map(|(span, _)| span.to_string());
        let what = format!("{}, {}", diagnostic.code, diagnostic.message);
        Self { severity, location, what, help: diagnostic.help.clone() }
    }
}

/// What is asked together.
struct Section {
    title: &'static str,
    findings: Vec<Finding>,
}

/// The project or crate to diagnose.
struct Target {
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
    let kubectl = kubectl::find(args.program.kubectl.as_deref(), args.context.as_deref());
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
    console.lines(&text(sections, least));
    if console.verbosity > Verbosity::Quiet {
        console.print(&format!("{}\n", summary(sections)));
    }
}

/// A line a check, below the names of the sections, and what to do below it.
fn text(sections: &[Section], least: Severity) -> String {
    let mut text = String::new();
    for Section { title, findings } in sections {
        let shown: Vec<&Finding> = findings.iter().filter(|finding| finding.severity >= least).collect();
        if shown.is_empty() {
            continue;
        }
        text.push_str(&format!("{title}\n"));
        for Finding { severity, location, what, help } in shown {
            let location = location.as_ref().map(|location| format!("{location}: ")).unwrap_or_default();
            text.push_str(&format!("  {:8} {location}{what}\n", severity.word()));
            for help in help {
                text.push_str(&format!("    help: {}\n", help.replace('\n', "\n          ")));
            }
        }
    }
    text
}

/// `12 checks: 1 error, 2 warnings, 1 skipped`
fn summary(sections: &[Section]) -> String {
    let findings = || sections.iter().flat_map(|section| &section.findings);
    let number = |severity| findings().filter(|finding| finding.severity == severity).count();
    let counts = [(number(Severity::Error), "error"), (number(Severity::Warning), "warning")];
    let mut parts: Vec<String> =
        counts.iter().filter(|(number, _)| *number > 0).map(|(number, what)| counted(*number, what)).collect();
    if parts.is_empty() {
        parts.push("nothing is wrong".into());
    }
    match number(Severity::Skipped) {
        0 => {}
        skipped => parts.push(format!("{skipped} skipped")),
    }
    format!("{}: {}", counted(findings().count(), "check"), parts.join(", "))
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
    fn each_check_is_a_line_and_the_last_one_counts() {
        let sections = [
            Section {
                title: "a",
                findings: vec![Finding::ok("one"), Finding::error("two").at("PROJECT").help("do\nit")],
            },
            Section { title: "b", findings: vec![Finding::skipped("three"), Finding::warning("four")] },
        ];
        assert_eq!(
            text(&sections, Severity::Ok),
            "a\n  ok       one\n  error    PROJECT: two\n    help: do\n          it\nb\n  skipped  three\n  warning  four\n"
        );
        assert_eq!(text(&sections, Severity::Error), "a\n  error    PROJECT: two\n    help: do\n          it\n");
        assert_eq!(summary(&sections), "4 checks: 1 error, 1 warning, 1 skipped");
        assert_eq!(summary(&[]), "0 checks: nothing is wrong");
    }

    #[test]
    fn versions_are_compared_by_numbers() {
        assert!(numbers("1.89") < numbers("1.100.0-nightly (abc)"));
        assert_eq!(numbers("v1.36.2+k3s1"), [1, 36, 2]);
    }
}
