//! `opctl testenv`: a Kubernetes API server for tests, on this machine.

mod environment;
mod programs;
mod setup;

pub use programs::assets;

use super::{Console, Outcome};
use crate::cli::Testenv;

pub fn run(command: &Testenv, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        Testenv::Setup(args) => setup::run(args, console),
    }
}
