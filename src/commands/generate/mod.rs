//! `opctl generate`: what a release of the operator needs, made of the project.

pub mod chart;

use clap::Subcommand;

use super::{Console, Outcome};

#[derive(Debug, Subcommand)]
pub enum Generate {
    Chart(chart::ChartArgs),
}

pub fn run(command: &Generate, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        Generate::Chart(args) => chart::run(args, console),
    }
}
