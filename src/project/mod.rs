//! The PROJECT file and where things live in a project. The only module that reads the disk.

pub mod builtin;
mod file;
mod manifest;
mod sources;
mod tree;
mod workspace;

pub use file::{Api, Descriptions, Origin, PROJECT, ProjectError, ProjectFile, Resource, Webhooks, root_above};
pub use manifest::{Manifest, Package, Requirement};
pub use sources::{Located, Sources};
pub use tree::{Carried, Features, ReadError, Tree, join};
pub use workspace::workspace_above;
