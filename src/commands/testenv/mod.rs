//! `opctl testenv`: runs a Kubernetes API server for tests on this machine.

mod programs;
mod run;
mod setup;
mod up;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use opctl_testenv::{Crd, Environment, Settings, TestenvError};

use self::run::TestenvRunArgs;
use self::setup::TestenvSetupArgs;
use self::up::{TestenvDownArgs, TestenvUpArgs};
use super::{Console, Outcome, counted, environment};
use crate::error::{ExternalError, UserError};
use crate::places;
use opctl_model::project::{ProjectFile, Tree, root_above};
pub use programs::{Interrupted, assets};

#[derive(Debug, Subcommand)]
pub enum TestenvCommand {
    Run(TestenvRunArgs),
    Up(TestenvUpArgs),
    Down(TestenvDownArgs),
    Status(up::TestenvStatusArgs),
    Setup(TestenvSetupArgs),
}

/// The parts of a test environment.
#[derive(Args, Debug)]
pub struct TestenvServersArgs {
    /// A file or folder of CRDs to install (repeatable) [default: those of the project]
    #[arg(long, value_name = "PATH")]
    pub crds: Vec<PathBuf>,

    /// The number of fake nodes, which mark Pods as Running without running containers [default: 1 if kube-scheduler and kwok are
    /// next to kube-apiserver]
    #[arg(long, value_name = "NUMBER")]
    pub nodes: Option<u16>,

    /// The version of Kubernetes, e.g. 1.36 or 1.36.2 [default: the installed one, else the latest]
    #[arg(long, value_name = "VERSION")]
    pub kubernetes: Option<String>,
}

pub fn run(command: &TestenvCommand, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        TestenvCommand::Run(args) => run::run(args, console),
        TestenvCommand::Up(args) => up::up(args, console),
        TestenvCommand::Down(args) => up::down(args, console),
        TestenvCommand::Status(args) => up::status(args, console),
        TestenvCommand::Setup(args) => setup::run(args, console),
    }
}

/// The CRDs at `paths`, or those of the project around the current folder.
pub fn crds(paths: &[PathBuf]) -> anyhow::Result<Vec<Crd>> {
    let read = |paths: &[PathBuf]| Crd::load(paths).map_err(failed);
    if !paths.is_empty() {
        return read(paths);
    }
    let Ok(root) = root_above(&std::env::current_dir()?) else { return Ok(Vec::new()) };
    let tree = Tree::at(&root);
    let Ok(project) = ProjectFile::read(&tree) else { return Ok(Vec::new()) };
    // An operator without kinds of its own has no CRDs.
    if let Some(bases) = project.crds.iter().find(|path| path.is_bases()) {
        let bases = root.join(bases.as_str());
        return if bases.exists() { read(&[bases]) } else { Ok(Vec::new()) };
    }
    Ok(places::applicable(&tree, &project.crds)?.into_iter().map(|kept| Crd::new(kept.path, kept.crd)).collect())
}

/// Starts a test environment, installs the CRDs, and prints a message.
pub fn start(args: &TestenvServersArgs, name: &str, crds: &[Crd], console: &Console) -> anyhow::Result<Environment> {
    let assets = assets(args.kubernetes.as_deref(), None, console)?;
    let mut settings = Settings::new(assets, environment::environments(), name);
    settings.nodes = args.nodes;
    let environment = Environment::start(settings).map_err(failed)?;
    environment.install(crds).map_err(failed)?;
    let mut text = format!("Kubernetes {} at {}", environment.version, environment.url);
    if environment.nodes > 0 {
        text += &format!(" with {}", counted(environment.nodes.into(), "node"));
    }
    if !crds.is_empty() {
        text += &format!(", {} installed", counted(crds.len(), "CRD"));
    }
    console.info(&format!("{text}, ready in {:.1} s", environment.ready_in.as_secs_f64()));
    Ok(environment)
}

pub fn failed(error: TestenvError) -> anyhow::Error {
    let refusal = UserError { message: error.to_string(), help: error.help().into_iter().collect() };
    ExternalError(refusal).into()
}
