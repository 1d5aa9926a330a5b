//! Tests that need only opctl itself: no compiler for other crates, no API server, no network. A plain `cargo test`
//! runs them.

// Shared with other test binaries.
#[path = "../common/asked.rs"]
mod asked;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/copy.rs"]
mod copy;
#[path = "../common/cores.rs"]
mod cores;
#[path = "../common/crds.rs"]
mod crds;
#[path = "../common/differ.rs"]
mod differ;
#[path = "../common/engine.rs"]
mod engine_cases;
#[path = "../common/extent.rs"]
mod extent;
#[path = "../common/guide.rs"]
mod guide;
#[path = "../common/helm.rs"]
mod helm;
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

mod apiserver;
mod architecture;
mod bundle;
mod catalog;
mod check;
mod cli;
mod cli_reference;
mod comments;
mod dashboards;
mod descriptions;
mod diagnostics_reference;
mod docs;
mod edit;
mod engine;
mod foreign;
mod generated;
mod grants;
mod inference;
mod kopium;
mod locks;
mod markers;
mod markers_reference;
mod naming;
mod objects;
mod ownership;
mod plan;
mod rbac;
mod readers;
mod recorded;
mod reference;
mod releases;
mod requests;
mod scorecard;
mod signatures;
mod templates;
mod undecodable;
mod unseen;
mod versions;
mod webhook;
mod webhook_project;
mod workflows;
mod workspaces;
