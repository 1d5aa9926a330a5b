//! Generates CRDs from the compiled types: cargo builds and runs a binary of the crate, which prints them.
//!
//! The input is a folder and the binary's name, the outputs are [`CustomResourceDefinition`]s. opctl itself writes
//! nothing here, but cargo writes to its target folder, and to a missing Cargo.lock. This is the only module that
//! starts programs other than kubectl, so it also contains kopium, which converts a CRD to Rust types; helm, which
//! fetches and renders charts; the builders of images; programs that ask registries; external validators of bundles;
//! git, for the files of earlier releases; and the queries for versions of installed programs.

mod cargo;
pub mod diagnostics;
pub mod digest;
pub mod documents;
pub mod git;
pub mod helm;
pub mod image;
mod kopium;
pub mod printer;
pub mod pull;
pub mod toolchain;
pub mod validators;

use std::path::Path;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use opctl_model::diagnostic::Diagnostic;

pub use cargo::{Program, build, metadata, programs};
pub use kopium::{External, KopiumError, external};

/// The reason why the compiled types gave no CRDs.
#[derive(Debug)]
pub struct Failure {
    pub diagnostic: Diagnostic,
    /// The complete standard error of cargo or the binary, with colours.
    pub stderr: String,
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostic, stderr: String::new() }
    }
}

/// The CRDs that these binaries of the crate in `folder` print. `progress` is called with the steps of cargo.
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
