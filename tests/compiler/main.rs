//! Tests that compile crates with cargo, into one target folder. Run them by name: `cargo test --test compiler [NAME]`.

// Shared with other test binaries.
#[path = "../common/admitted.rs"]
mod admitted;
#[path = "../common/asked.rs"]
mod asked;
#[path = "../common/attributes.rs"]
mod attribute_cases;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/copy.rs"]
mod copy;
#[path = "../common/differ.rs"]
mod differ;
#[path = "../common/engine.rs"]
mod engine_cases;
#[path = "../common/extent.rs"]
mod extent;
#[path = "../common/nightly.rs"]
mod nightly;
#[path = "../common/oracle.rs"]
mod oracle;
#[path = "../common/oracles.rs"]
mod oracles;
#[path = "../common/recorder.rs"]
mod recorder;
#[path = "../common/skipped.rs"]
mod skipped;
#[path = "../common/tree.rs"]
mod tree;
#[path = "../common/undecodable.rs"]
mod undecodable_cases;
#[path = "../common/write.rs"]
mod write;

mod attributes;
mod engine;
mod foreign;
mod kubernetes_types;
mod large;
mod libraries;
mod package;
mod printer;
mod random;
mod random_programs;
mod requests;
mod undecodable;
