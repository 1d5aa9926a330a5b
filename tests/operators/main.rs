//! Tests that compile whole operators and run them on an API server. Run them by name:
//! `cargo test --test operators [NAME]`.

// Shared with other test binaries.
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/control_plane.rs"]
mod control_plane;
#[path = "../common/dockerignore.rs"]
mod dockerignore;
#[path = "../common/extent.rs"]
mod extent;
#[path = "../common/golden.rs"]
mod golden;
#[path = "../common/guide.rs"]
mod guide;
#[path = "../common/helm.rs"]
mod helm;
#[path = "../common/manager.rs"]
mod manager;
#[path = "../common/mutants.rs"]
mod mutants;
#[path = "../common/nightly.rs"]
mod nightly;
#[path = "../common/prometheus.rs"]
mod prometheus;
#[path = "../common/recorder.rs"]
mod recorder;
#[path = "../common/sandbox.rs"]
mod sandbox;
#[path = "../common/skipped.rs"]
mod skipped;
#[path = "../common/tree.rs"]
mod tree;
#[path = "../common/workdir.rs"]
mod workdir;
#[path = "../common/write.rs"]
mod write;

mod adopted;
mod ansible;
mod book;
mod examples;
mod golden_projects;
mod requests;
mod webhooks;
