//! `opctl bundle`: bundles for the Operator Lifecycle Manager that exist.

pub mod render;
pub mod validate;

use clap::Subcommand;

use super::{Console, Outcome};

#[derive(Debug, Subcommand)]
pub enum Bundle {
    Render(render::RenderArgs),
    Validate(validate::ValidateArgs),
}

pub fn run(command: &Bundle, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        Bundle::Render(args) => render::run(args, console),
        Bundle::Validate(args) => validate::run(args, console),
    }
}
