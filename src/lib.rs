//! `opctl` scaffolds kube-rs operators and regenerates their manifests from Rust source.
//!
//! Two pipelines meet in the plan ([`opctl_edit::plan`]): *scaffold* turns settings into files that the user then owns,
//! and *generate* turns Rust source into manifests that opctl owns. All changes are computed in memory, shown and
//! checked, and only then written. `ARCHITECTURE.md` describes the crates; the modules below are in reading order.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

#[cfg(not(unix))]
compile_error!("opctl runs on Linux and macOS; on Windows, in WSL");

mod adopt;
mod compatibility;
mod custom_objects;
pub mod diagnostics;
mod drift;
pub mod error;
mod import;
mod kept;
mod kinds;
mod places;
mod rename;
pub mod rendered;
mod roles;
pub mod scaffold;

pub mod api;
pub mod doctor;

pub mod commands;
