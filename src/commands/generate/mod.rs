//! `opctl generate`: what a release of the operator needs, made of the project.

pub mod chart;
mod docs;

use clap::Subcommand;

use super::{Console, Outcome};

#[derive(Debug, Subcommand)]
pub enum Generate {
    Chart(chart::ChartArgs),
    Docs(docs::DocsArgs),
}

pub fn run(command: &Generate, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        Generate::Chart(args) => chart::run(args, console),
        Generate::Docs(args) => docs::run(args, console),
    }
}
