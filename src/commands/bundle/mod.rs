//! `opctl bundle`: bundles for the Operator Lifecycle Manager that exist.

pub mod render;

use clap::Subcommand;

use super::{Console, Outcome};

#[derive(Debug, Subcommand)]
pub enum Bundle {
    Render(render::RenderArgs),
}

pub fn run(command: &Bundle, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        Bundle::Render(args) => render::run(args, console),
    }
}
