//! `opctl olm`: the Operator Lifecycle Manager of a cluster.

mod install;
mod release;
mod status;
mod uninstall;

use clap::Subcommand;

use super::{Console, Outcome};

#[derive(Debug, Subcommand)]
pub enum OlmCommand {
    Install(install::InstallArgs),
    Status(status::StatusArgs),
    Uninstall(uninstall::UninstallArgs),
}

pub fn run(command: &OlmCommand, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        OlmCommand::Install(args) => install::run(args, console),
        OlmCommand::Status(args) => status::run(args, console),
        OlmCommand::Uninstall(args) => uninstall::run(args, console),
    }
}
