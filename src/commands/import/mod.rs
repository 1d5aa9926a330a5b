//! `opctl import`: makes projects of other tools projects of opctl. Their files are read, never changed.

mod helm_operator;
mod helm_project;
mod watches;

use clap::Subcommand;

use super::{Console, Outcome};

#[derive(Debug, Subcommand)]
pub enum Import {
    HelmOperator(helm_operator::HelmOperatorArgs),
}

pub fn run(command: &Import, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        Import::HelmOperator(args) => helm_operator::run(args, console),
    }
}
