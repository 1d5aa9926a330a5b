//! `opctl generate`: generates the files that a release of the operator needs.

mod bundle;
mod bundle_base;
pub mod chart;
mod docs;

use clap::Subcommand;

use super::{Console, Outcome};

#[derive(Debug, Subcommand)]
pub enum Generate {
    Bundle(Box<bundle::BundleArgs>),
    Chart(chart::ChartArgs),
    Docs(docs::DocsArgs),

    /// Scaffold the kustomization of a bundle for the Operator Lifecycle Manager
    #[command(subcommand)]
    Kustomize(bundle_base::Kustomize),
}

pub fn run(command: &Generate, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        Generate::Bundle(args) => bundle::run(args, console),
        Generate::Chart(args) => chart::run(args, console),
        Generate::Docs(args) => docs::run(args, console),
        Generate::Kustomize(command) => bundle_base::run(command, console),
    }
}
