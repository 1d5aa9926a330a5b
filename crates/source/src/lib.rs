//! Rust source → [`Operator`](opctl_model::Operator): the kinds of a package with their schemas, its markers and its
//! requests. Nothing is compiled or run; anything that cannot be derived exactly is a diagnostic.
//!
//! In reading order, each layer on those before it:
//!
//! - `attributes`, `known`, `markers`: the syntax of attributes, the types of std and Kubernetes, markers in comments
//! - `resolve`: packages, modules and names, `cfg`, macros by example, the sources of other crates
//! - `evaluate`: the types of expressions, and the values of defaults, bounds and constants
//! - `derive`: types → schemas, and the kinds with these schemas
//! - `requests`, `metrics`, `mentions`: the requests to the API server, the metrics and the kinds in the code; on
//!   `resolve` alone
//! - `account`, `ownership`: the number of kinds found, and those that belong to other projects
//! - `source`: the entry points, which combine these
//! - `emit`, `grants`: the manifests of an operator, and the permissions that its markers grant
//!
//! The guarantee is: equal to kube's `crd()`, or an error. Only the first stage of `crd()`, type → raw schema, is
//! reimplemented (`derive`); `emit` runs the code of schemars, kube-core and k8s-openapi for the others.
//! `docs/decisions/2026-11-21-manifests-without-compiling.md` has the reasons.
//!
//! The crate starts no program, reads the disk only through a `Tree`, and does not depend on PROJECT's options or the
//! command line.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod account;
mod attributes;
mod crd_calls;
mod derive;
pub mod diagnostics;
pub mod emit;
mod evaluate;
pub mod grants;
pub mod known;
pub mod markers;
mod mentions;
mod metrics;
mod ownership;
mod requests;
mod resolve;
mod source;

pub use account::Account;
pub use ownership::generated_before;
pub use resolve::dependencies;
pub use source::{
    Options, Source, can_name, read, read_markers, read_mentions, read_metrics, read_requests, read_requests_with,
    read_with,
};
