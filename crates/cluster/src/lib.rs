//! A Kubernetes cluster as seen through kubectl: requests, and the interpretation of their results.
//!
//! A [`Kubectl`] and manifests come in; states, reasons and [findings](findings::Finding) go out:
//!
//! - [`connection`]: the selected cluster, and the response of its API server
//! - [`manifest`](Object): splits rendered manifests into objects; [`apply()`] and [`delete()`] change the cluster
//! - [`Crd`], [`Rollout`], [`Obstacle`], [`olm`]: the state of applied objects, and the reasons for failures
//! - [`Storage`], [`Migration`]: the stored versions of a CRD, and the migration of its objects
//! - [`rights`]: the permissions that roles grant, and those of the current user
//! - [`status`]: the manifests of a project compared with the cluster
//!
//! Requests are separate from the functions that interpret the results. These are pure, and tested with tables.
//!
//! Nothing here knows the command line, the terminal, or the scaffold of a project. Callers turn errors into messages,
//! pass closures that show progress, and render the manifests. Findings refer to opctl commands that fix the problem.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod apply;
mod cause;
pub mod connection;
mod crd_diff;
mod crds;
#[allow(clippy::disallowed_methods, reason = "it measures how long others take")]
mod deadline;
pub mod findings;
mod json;
#[allow(clippy::disallowed_methods, reason = "it starts kubectl")]
mod kubectl;
mod manifest;
mod migration;
mod obstacle;
pub mod olm;
pub mod rights;
mod rollout;
pub mod status;

pub use apply::{Applied, Change, FIELD_MANAGER, apply, delete};
pub use cause::{Denial, FailureCause};
pub use crd_diff::differences;
pub use crds::{Crd, NotServed, RemainingObject, State};
pub use deadline::Deadline;
pub use json::{condition, is_kind, items, list, name};
use json::{full_name, text_at};
pub use kubectl::{Kubectl, KubectlError, KubectlOutput};
pub use manifest::{ManifestError, Object, objects, text};
pub use migration::{Migration, MigrationState, Storage, Sweep, VersionMigration, is_passing};
pub use obstacle::Obstacle;
use rollout::reasons;
pub use rollout::{Rollout, await_rollout, events, explain, pod_selector};
