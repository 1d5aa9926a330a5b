//! `opctl bundle`: works with existing bundles for the Operator Lifecycle Manager.

pub mod render;
pub mod source;
pub mod validate;

use std::collections::BTreeSet;

use clap::Subcommand;
use serde_json::Value;

use super::{Console, Outcome};
use crate::error::{SourceErrors, UserError};
use opctl_model::diagnostic::Diagnostic;
use opctl_olm::bundle::{self, Findings, Folder};
use opctl_olm::render::{Installation, render};

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

/// The objects that OLM creates from a bundle. `shown` is its name in messages.
pub fn rendered(
    bundle: &bundle::Bundle,
    shown: &str,
    namespace: &str,
    watched: &BTreeSet<String>,
) -> anyhow::Result<Vec<Value>> {
    let mut findings = Findings::default();
    bundle::check_installable(bundle, &mut findings);
    let diagnostics = errors(findings);
    if !diagnostics.is_empty() {
        return Err(SourceErrors { diagnostics, help: vec!["OLM does not install this bundle".into()] }.into());
    }
    Ok(render(&Installation { bundle, namespace, watched })
        .map_err(|error| UserError::new(format!("`{shown}`: {error}")).help(error.help))?)
}

fn errors(findings: Findings) -> Vec<Diagnostic> {
    findings.sorted().into_iter().map(|finding| finding.diagnostic).filter(Diagnostic::is_error).collect()
}

/// Reads a bundle, and refuses one with errors. `help` is the reason why it must be valid.
pub fn valid(folder: Folder, help: &str) -> anyhow::Result<bundle::Bundle> {
    let bundle = read(folder, help)?;
    let mut findings = Findings::default();
    bundle::check(&bundle, &bundle::Options::default(), &mut findings);
    let diagnostics = errors(findings);
    match diagnostics.is_empty() {
        true => Ok(bundle),
        false => Err(SourceErrors { diagnostics, help: vec![help.into()] }.into()),
    }
}

/// Reads a bundle without checking it further.
fn read(folder: Folder, help: &str) -> anyhow::Result<bundle::Bundle> {
    let mut findings = Findings::default();
    let bundle = bundle::load(folder, &mut findings);
    let diagnostics = errors(findings);
    match bundle {
        Some(bundle) if diagnostics.is_empty() => Ok(bundle),
        _ => Err(SourceErrors { diagnostics, help: vec![help.into()] }.into()),
    }
}
