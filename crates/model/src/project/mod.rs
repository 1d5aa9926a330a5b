//! The PROJECT file and the files of a project. The only module that reads the disk.

pub mod builtin;
mod crd_path;
mod file;
mod intake;
mod manifest;
mod options;
mod sources;
mod tree;
mod unreadable;
pub mod widespread;
mod workspace;

pub use crd_path::CrdPath;
pub use file::{
    Api, Descriptions, Origin, PROJECT, ProjectError, ProjectFile, Resource, Webhooks, has_project, root_above,
};
pub use intake::{Contents, Intake, LIMITS, Limits, read_regular, read_within};
pub use manifest::{Manifest, Package, Requirement};
pub use options::{Controller, ControllerOptions, Options, WorkloadOptions};
pub use sources::{Located, Sources};
pub use tree::{Carried, Features, Tree, join};
pub use unreadable::{ReadError, is_unreadable};
pub use workspace::{CargoToml, Workspace, Workspaces, inherits, repository_above, workspace_above};
