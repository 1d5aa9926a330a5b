//! Generates CRDs from the compiled types: cargo builds and runs the crate's own binary, which prints them.
//!
//! A folder and the binary's name come in, [`CustomResourceDefinition`]s go out. opctl writes nothing here, but cargo does:
//! to its target folder, and to a Cargo.lock that is not there yet. The only module that starts programs other than kubectl, so
//! it has kopium too, which goes the other way: a CRD → Rust types; helm, which fetches and renders charts; the builders of
//! images; git, for the files of earlier releases; and it knows which programs are there.

mod cargo;
pub mod diagnostics;
pub mod documents;
pub mod git;
pub mod helm;
pub mod image;
mod kopium;
pub mod printer;
pub mod pull;
pub mod toolchain;

use std::path::Path;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use opctl_model::diagnostic::Diagnostic;

pub use cargo::{Program, build, metadata, programs};
pub use kopium::{External, KopiumError, external};

/// Why the compiled types gave no CRDs.
#[derive(Debug)]
pub struct Failure {
    pub diagnostic: Diagnostic,
    /// What cargo or the binary wrote to standard error, complete, with its colours.
    pub stderr: String,
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostic, stderr: String::new() }
    }
}

/// What all of these binaries of the crate in `folder` print. `progress` hears what cargo does.
pub fn crds(
    folder: &Path,
    programs: &[Program],
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<CustomResourceDefinition>, Box<Failure>> {
    let mut crds = Vec::new();
    for program in programs {
        let text = program.output(folder, progress)?;
        crds.extend(documents::read(&text, &program.name)?);
    }
    Ok(crds)
}
