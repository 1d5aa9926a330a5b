//! `opctl bundle`: bundles of the Operator Lifecycle Manager.

pub mod validate;

use clap::Subcommand;

use super::{Console, Outcome};

#[derive(Debug, Subcommand)]
pub enum Bundle {
    Validate(validate::ValidateArgs),
}

pub fn run(command: &Bundle, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        Bundle::Validate(args) => validate::run(args, console),
    }
}
