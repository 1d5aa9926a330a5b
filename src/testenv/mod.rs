//! A Kubernetes API server for tests, on this machine: a real one, with etcd behind it.

pub mod assets;

pub use assets::{Assets, AssetsError};
