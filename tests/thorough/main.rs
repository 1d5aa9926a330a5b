//! Tests that need only opctl itself and take minutes: properties of all golden projects, hundreds of commands and
//! mutations. Run them by name: `cargo test --test thorough [NAME]`.

// Shared with other test binaries.
#[path = "../common/attributes.rs"]
mod attribute_cases;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/cores.rs"]
mod cores;
#[path = "../common/cpu_time.rs"]
mod cpu_time;
#[path = "../compiler/random/kinds/dice.rs"]
mod dice;
#[path = "../common/edits.rs"]
mod edits;
#[path = "../common/extent.rs"]
mod extent;
#[path = "../common/formats.rs"]
mod formats;
#[path = "../common/golden.rs"]
mod golden;
#[path = "../common/golden_copies.rs"]
mod golden_copies;
#[path = "../common/helm.rs"]
mod helm;
#[path = "../common/kustomizations.rs"]
mod kustomizations;
#[path = "../../crates/testenv/tests/mirror/mod.rs"]
mod mirror;
#[path = "../common/oracle.rs"]
mod oracle;
#[path = "../common/oracles.rs"]
mod oracles;
#[path = "../common/record.rs"]
mod record;
#[path = "../common/sandbox.rs"]
mod sandbox;
#[path = "../common/skipped.rs"]
mod skipped;
#[path = "../common/tree.rs"]
mod tree;
#[path = "../common/write.rs"]
mod write;

mod account;
mod ansible;
mod attributes;
mod chart;
mod chart_sources;
mod commands;
mod compat;
mod config;
mod delete;
mod fuzz;
mod golden_files;
mod hostile;
mod import;
mod kubebuilder_syntax;
mod kubernetes_types;
mod limits;
mod olm;
mod project;
mod registry;
mod release;
mod rename;
mod runtime;
mod scaffold;
mod sequences;
mod suggestions;
mod testenv_setup;
mod unreadable;
mod update;
