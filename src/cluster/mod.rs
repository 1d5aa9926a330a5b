//! A cluster, by kubectl: what is asked of it, and what it says.
//!
//! Knows no project: manifests come in as text.

mod kubectl;

pub use kubectl::{Kubectl, KubectlError};
