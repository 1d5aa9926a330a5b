//! `opctl` scaffolds kube-rs operators and regenerates their manifests from Rust source.
//!
//! Two lines meet in the [`plan`]: *scaffold* (answers → files that the user then owns) and *generate* (Rust source →
//! manifests that opctl owns). Every change is decided in memory, shown, checked and only then written.
//! `ARCHITECTURE.md` draws the modules; the modules below stand in reading order.

#[cfg(not(unix))]
compile_error!("opctl runs on Linux and macOS; on Windows, in WSL");

pub mod diagnostic;
pub mod interrupt;
mod lexer;
pub mod names;
mod threads;
pub mod versions;
pub mod yaml;

pub mod project;

pub mod model;
pub mod spec;

pub mod apiserver;
pub mod chart;
pub mod cluster;
pub mod compat;
pub mod compiled;
pub mod config;
pub mod dashboards;
pub mod emit;
pub mod grants;
pub mod olm;
pub mod operator_chart;
pub mod reference;
pub mod scaffold;
pub mod source;

pub mod ansible;
pub mod bundle;

pub mod catalog;
pub mod scorecard;

pub mod edit;
pub mod plan;

pub mod commands;
