//! `opctl bundle`: works with existing bundles for the Operator Lifecycle Manager.

pub mod render;
pub mod validate;

use clap::Subcommand;

use super::{Console, Outcome};
use crate::error::SourceErrors;
use opctl_model::diagnostic::Diagnostic;
use opctl_olm::bundle::{self, Findings, Folder};

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

/// Reads a bundle, and refuses one with errors. `help` is the reason why it must be valid.
pub fn valid(folder: Folder, help: &str) -> anyhow::Result<bundle::Bundle> {
    let mut findings = Findings::default();
    let bundle = bundle::load(folder, &mut findings);
    if let Some(bundle) = &bundle {
        bundle::check(bundle, &bundle::Options::default(), &mut findings);
    }
    let diagnostics: Vec<Diagnostic> =
        findings.sorted().into_iter().map(|finding| finding.diagnostic).filter(Diagnostic::is_error).collect();
    match bundle {
        Some(bundle) if diagnostics.is_empty() => Ok(bundle),
        _ => Err(SourceErrors { diagnostics, help: vec![help.into()] }.into()),
    }
}
