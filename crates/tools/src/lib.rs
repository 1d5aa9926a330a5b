//! Runs external programs, except kubectl, and parses their output.
//!
//! - cargo compiles and runs a binary of a crate, which prints CRDs ([`crds`]), also with a few additional lines of code
//!   in a copy of the crate ([`printer`]). Cargo writes to its target folder, and to a missing Cargo.lock.
//! - kopium converts a CRD to Rust types, and [`helm`] fetches and renders charts.
//! - Builders of images, programs that ask registries, and external validators of bundles.
//! - [`git`] has the files of earlier releases, and [`toolchain`] the versions of installed programs.
//!
//! Folders and names go in, values and diagnostics come out. This crate knows nothing of PROJECT, of the plan, or of the
//! command line.

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
