//! `opctl import`: makes projects of other tools projects of opctl. Their files are read, never changed.

mod ansible_operator;
mod ansible_watches;
mod helm_operator;
mod project;
mod target;
mod watches;

use clap::Subcommand;

use super::{Console, Outcome};

#[derive(Debug, Subcommand)]
pub enum Import {
    HelmOperator(helm_operator::HelmOperatorArgs),
    AnsibleOperator(ansible_operator::AnsibleOperatorArgs),
}

pub fn run(command: &Import, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        Import::HelmOperator(args) => helm_operator::run(args, console),
        Import::AnsibleOperator(args) => ansible_operator::run(args, console),
    }
}
