//! `opctl status`: compares the project with a cluster. Nothing is written.

use std::path::PathBuf;
use std::thread::sleep;

use clap::Args;

use super::console::Verbosity;
use super::kubectl::ContextArgs;
use super::manifests::crate_for;
use super::on_cluster::{Cluster, duration};
use super::output::Format;
use super::{Console, Outcome, tree};
use crate::error::UserError;
use crate::kinds::{Kind, Kinds};
use crate::rendered::{self, PLACEHOLDER};
use opctl_cluster::findings::{self, Severity};
use opctl_cluster::is_kind;
use opctl_cluster::status::{Project, Status};
use opctl_edit::plan::Mode;
use opctl_model::project::{ProjectError, ProjectFile, Tree};

/// Compare the project with the cluster: CRDs, roles, the operator, webhooks, objects and leftovers
///
/// In a crate without PROJECT, only the kinds are compared: their CRDs, which are derived or checked in, and their
/// objects. If a kind has no CRD there, its identity is compared.
///
/// Compares what `opctl deploy` would apply with the cluster of KUBECONFIG, and shows what runs there: the rollout,
/// restarts, the leader, certificates, and objects that are not ready or cannot be deleted. Nothing is written. What
/// the current user may not read is skipped.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # The operator in the current cluster, and the differences from the project
  opctl status

  # Exit 1 if there is a warning or an error
  opctl status --check

  # Refresh every ten seconds
  opctl status --watch --interval 10s

  # For programs
  opctl status -o json | jq '.sections[].findings[] | select(.severity == \"error\")'")]
pub struct StatusArgs {
    /// The folder of a crate [default: the project or the crate around the current folder]
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,

    #[command(flatten)]
    pub context: ContextArgs,

    /// The output format; with --watch, JSON has one line per refresh
    #[arg(short, long, value_enum, default_value_t)]
    pub output: Format,

    /// Refresh until interrupted
    #[arg(short, long)]
    pub watch: bool,

    /// The time between two refreshes
    #[arg(long, value_name = "DURATION", default_value = "5s", requires = "watch")]
    pub interval: String,
}

pub fn run(args: &StatusArgs, console: &Console) -> anyhow::Result<Outcome> {
    if matches!(console.mode, Mode::DryRun | Mode::Diff) || !console.overwrite.is_empty() {
        return Err(UserError::new("`--dry-run`, `--diff` and `--overwrite` are for commands that write files")
            .help("`opctl status` writes nothing; `--check` exits with 1 if the cluster differs")
            .into());
    }
    let interval = duration(&args.interval).filter(|it| !it.is_zero()).ok_or_else(|| {
        UserError::new(format!("invalid interval `{}`", args.interval)).help("write it as `5s`, `1m30s` or `1h`")
    })?;
    let tree = tree(&crate_for(args.path.as_deref(), true, "status")?);
    let cluster = Cluster::with(args.context.kubectl(), console);
    loop {
        // The project may change between two refreshes.
        let project = read(&tree)?;
        let mut status =
            Status::read(&project, &cluster.kubectl).map_err(|error| cluster.connection_failure(&error))?;
        if project.name.is_empty() {
            // These commands are for projects only.
            let findings = status.sections.iter_mut().flat_map(|section| &mut section.findings);
            findings.for_each(|finding| finding.help.retain(|help| !help.starts_with("opctl ")));
        }
        show(args, &status, console);
        if !args.watch {
            let fails = status.differs() && console.mode == Mode::Check;
            return Ok(if fails { Outcome::Drift } else { Outcome::Done });
        }
        sleep(interval);
    }
}

/// The objects that `opctl deploy` would apply.
fn read(tree: &Tree) -> anyhow::Result<Project> {
    let project = match ProjectFile::read(tree) {
        Ok(project) => project,
        Err(ProjectError::Missing(_)) => return kinds(tree),
        Err(error) => return Err(error.into()),
    };
    let mut objects = rendered::values(tree, "config/default");
    // A project may deploy its CRDs separately.
    if !objects.iter().any(|object| is_kind(object, "CustomResourceDefinition")) {
        objects.extend(rendered::crd_values(tree));
    }
    if objects.is_empty() {
        return Err(UserError::new("there is no `config/default/kustomization.yaml` in the project")
            .help("it lists everything that is deployed; restore it, e.g. from version control")
            .into());
    }
    Ok(Project { name: project.name.to_string(), objects, placeholder: PLACEHOLDER })
}

/// The kinds of a crate without PROJECT. opctl does not know the names of its other objects.
fn kinds(tree: &Tree) -> anyhow::Result<Project> {
    let Kinds { kinds, .. } = Kinds::read(tree, None)?;
    if kinds.is_empty() {
        return Err(UserError::new("the crate declares no kind")
            .help("give the folder of another crate: `opctl status --path DIR`")
            .into());
    }
    let objects = kinds.iter().map(Kind::to_json).collect();
    Ok(Project { name: String::new(), objects, placeholder: PLACEHOLDER })
}

fn show(args: &StatusArgs, status: &Status, console: &Console) {
    if args.output == Format::Json {
        let json = status.to_json();
        return console.print(&if args.watch { format!("{json}\n") } else { format!("{json:#}\n") });
    }
    let is_quiet = console.verbosity == Verbosity::Quiet;
    let least = if is_quiet { Severity::Warning } else { Severity::Ok };
    if args.watch {
        // Clears the screen. The console drops this escape sequence if colours are off, e.g. without a terminal.
        console.print("\u{1b}[H\u{1b}[2J");
    }
    console.info(&format!("cluster: {}", status.cluster));
    console.lines(&findings::text(&status.sections, least));
    if !is_quiet {
        console.print(&format!("{}\n", findings::summary(&status.sections)));
    }
}
