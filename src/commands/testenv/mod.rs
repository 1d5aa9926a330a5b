//! `opctl testenv`: a Kubernetes API server for tests, on this machine.

mod programs;
mod run;
mod setup;
mod up;

use std::path::PathBuf;

use opctl_testenv::{Crd, Environment, Settings, TestenvError};
pub use programs::{Interrupted, assets};

use super::error::{Failed, Refusal};
use super::{Console, Outcome, counted, environment};
use crate::cli::{Testenv, TestenvServers};
use crate::project::root_above;

pub fn run(command: &Testenv, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        Testenv::Run(args) => run::run(args, console),
        Testenv::Up(args) => up::up(args, console),
        Testenv::Down(args) => up::down(args, console),
        Testenv::Status => up::status(console),
        Testenv::Setup(args) => setup::run(args, console),
    }
}

/// The CRDs that are named, else those of the project around the current folder.
pub fn crds(paths: &[PathBuf]) -> anyhow::Result<Vec<Crd>> {
    let read = |paths: &[PathBuf]| Crd::load(paths).map_err(failed);
    if !paths.is_empty() {
        return read(paths);
    }
    let bases = root_above(&std::env::current_dir()?).ok().map(|root| root.join("config/crd/bases"));
    // Without a kind of its own an operator has no CRD.
    bases.filter(|bases| bases.exists()).map_or(Ok(Vec::new()), |bases| read(&[bases]))
}

/// Starts one and installs the CRDs; says so.
pub fn start(args: &TestenvServers, name: &str, crds: &[Crd], console: &Console) -> anyhow::Result<Environment> {
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
    let refusal = Refusal { message: error.to_string(), help: error.help().into_iter().collect() };
    Failed(refusal).into()
}
