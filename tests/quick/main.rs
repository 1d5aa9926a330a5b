//! What needs only opctl itself: no compiler for other crates, no API server, no network. A plain `cargo test` runs them.

// Shared with other test binaries.
#[path = "../common/asked.rs"]
mod asked;
#[path = "../common/attributes.rs"]
mod attribute_cases;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/copy.rs"]
mod copy;
#[path = "../common/crds.rs"]
mod crds;
#[path = "../compiler/random/kinds/dice.rs"]
mod dice;
#[path = "../common/differ.rs"]
mod differ;
#[path = "../common/edits.rs"]
mod edits;
#[path = "../common/engine.rs"]
mod engine_cases;
#[path = "../common/extent.rs"]
mod extent;
#[path = "../common/formats.rs"]
mod formats;
#[path = "../common/golden.rs"]
mod golden;
#[path = "../common/guide.rs"]
mod guide;
#[path = "../common/kustomizations.rs"]
mod kustomizations;
#[path = "../../crates/testenv/tests/mirror/mod.rs"]
mod mirror;
#[path = "../common/mutants.rs"]
mod mutants;
#[path = "../common/naming.rs"]
mod naming_cases;
#[path = "../common/object.rs"]
mod object;
#[path = "../common/oracle.rs"]
mod oracle;
#[path = "../common/oracles.rs"]
mod oracles;
#[path = "../common/pod_template.rs"]
mod pod_template;
#[path = "../common/project_with_webhooks.rs"]
mod project_with_webhooks;
#[path = "../common/prometheus.rs"]
mod prometheus;
#[path = "../common/record.rs"]
mod record;
#[path = "../common/recorder.rs"]
mod recorder;
#[path = "../common/roles.rs"]
mod roles;
#[path = "../common/sandbox.rs"]
mod sandbox;
#[path = "../common/skipped.rs"]
mod skipped;
#[path = "../common/tree.rs"]
mod tree;
#[path = "../common/undecodable.rs"]
mod undecodable_cases;
#[path = "../common/webhook_markers.rs"]
mod webhook_markers;
#[path = "../common/write.rs"]
mod write;

mod account;
mod ansible;
mod apiserver;
mod architecture;
mod attributes;
mod bundle;
mod catalog;
mod chart;
mod chart_sources;
mod check;
mod cli;
mod cli_reference;
mod commands;
mod compat;
mod config;
mod dashboards;
mod delete;
mod descriptions;
mod diagnostics_reference;
mod docs;
mod edit;
mod engine;
mod foreign;
mod fuzz;
mod generated;
mod golden_files;
mod grants;
mod hostile;
mod import;
mod inference;
mod kopium;
mod kubebuilder_syntax;
mod kubernetes_types;
mod limits;
mod locks;
mod made;
mod markers;
mod markers_reference;
mod naming;
mod objects;
mod olm;
mod ownership;
mod plan;
mod rbac;
mod readers;
mod recorded;
mod reference;
mod registry;
mod release;
mod releases;
mod rename;
mod requests;
mod runtime;
mod scaffold;
mod scorecard;
mod sequences;
mod signatures;
mod suggestions;
mod testenv_setup;
mod undecodable;
mod unreadable;
mod unseen;
mod update;
mod versions;
mod webhook;
mod webhook_project;
mod workflows;
mod workspaces;
