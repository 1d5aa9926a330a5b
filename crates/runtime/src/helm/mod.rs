//! Helm releases: a controller that installs a chart for each object, and releases owned by an object of any
//! controller.
//!
//! The `helm` program (version 4) does the work; this crate links none of it. The release records have the data for its
//! decisions, as labels of their Secrets: a digest of the chart and the values, and the owner. So an unchanged object
//! costs no process, and a restart changes nothing.
//!
//! # A controller for a chart
//!
//! The spec of an object is passed to helm as `--values`:
//!
//! ```no_run
//! # use k8s_openapi::api::core::v1::ConfigMap as Nginx;
//! # use opctl_runtime::Runnable;
//! # use opctl_runtime::helm::ChartController;
//! pub fn controller() -> Runnable {
//!     ChartController::<Nginx>::new("nginx").into()
//! }
//! ```
//!
//! Report drift instead of correcting it, or exclude a field:
//!
//! ```
//! # use k8s_openapi::api::core::v1::ConfigMap as Nginx;
//! # use opctl_runtime::helm::{ChartController, Drift};
//! # let _ = (
//! ChartController::<Nginx>::new("nginx").drift(Drift::Report)
//! # ,
//! ChartController::<Nginx>::new("nginx").release(|release| release.ignore("Deployment", "/spec/replicas"))
//! # );
//! ```
//!
//! Take values from other sources:
//!
//! ```
//! # use std::sync::Arc;
//! # use k8s_openapi::api::core::v1::ConfigMap as Nginx;
//! # use kube::ResourceExt;
//! # use opctl_runtime::{Context, Error};
//! # use opctl_runtime::helm::{ChartController, ValuesFrom};
//! # use serde_json::Value;
//! # let _ =
//! ChartController::<Nginx>::new("nginx")
//!     .values_from(|nginx: &Nginx| vec![ValuesFrom::secret(format!("{}-values", nginx.name_any())).optional()])
//!     .values(async |nginx: Arc<Nginx>, ctx: Arc<Context>, mut values: Value| {
//!         values["hostname"] = nginx.name_any().into();
//!         Ok::<_, Error>(values)
//!     })
//! # ;
//! ```
//!
//! # A release in your own controller
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use k8s_openapi::api::core::v1::ConfigMap as Shop;
//! # use serde_json::json;
//! # use opctl_runtime::helm::Release;
//! # use opctl_runtime::{Context, Controller, Outcome, Result, Runnable};
//! pub fn controller() -> Runnable {
//!     Controller::<Shop>::new(reconcile)
//!         .releases()
//!         .finalizer("example.com/redis", async |shop: Arc<Shop>, ctx: Arc<Context>| redis().uninstall(&*shop, &ctx).await)
//!         .into()
//! }
//!
//! /// The chart in `helm-charts/redis`.
//! fn redis() -> Release {
//!     Release::new("redis").values(json!({ "auth": { "enabled": false } }))
//! }
//!
//! async fn reconcile(shop: Arc<Shop>, ctx: Arc<Context>) -> Result<Outcome> {
//!     let released = redis().apply(&*shop, &ctx).await?;
//!     // if released.is_ready() { … }
//!     Ok(released.outcome())
//! }
//! ```
//!
//! # Lifecycle of a release
//!
//! | last record | action |
//! |---|---|
//! | missing, or of another chart or values | `helm upgrade --install --reset-values`, as a forced server-side apply |
//! | deployed, same chart and values | no process: the manifest is applied to correct drift, and objects are checked |
//! | deployed by someone else | adopted if the chart and values are the same, otherwise an upgrade |
//! | pending, and no helm works on it | it is set to failed, since helm was killed |
//! | failed, same chart and values | another attempt, with a growing delay; `Stalled` after [`Release::attempts`] |
//! | uninstalling, or uninstalled | remaining objects are removed, and the chart is installed again |
//!
//! A failed release is tried again at once if the chart, the values, or the object's annotation `opctl-runtime/retry`
//! changes.

mod annotations;
mod chart;
mod controller;
mod dependents;
mod fields;
mod history;
mod manifest;
mod objects;
mod process;
mod release;
mod set;
mod status;
mod values;

use std::path::PathBuf;

use clap::value_parser;

pub(crate) use process::Helm;
pub use {
    controller::ChartController,
    release::{Drift, OnFailure, Release, Released},
    status::{ReleaseInfo, ReleaseStatus},
    values::ValuesFrom,
};

/// The arguments of a manager for releases; each can be an environment variable too.
#[derive(Clone, Debug, clap::Args)]
pub struct HelmOptions {
    /// The folder with the charts
    #[arg(long, env, value_name = "FOLDER", default_value = "helm-charts")]
    pub helm_charts: PathBuf,
    /// The helm program, version 4
    #[arg(long, env, value_name = "PROGRAM", default_value = "helm")]
    pub helm_program: PathBuf,
    /// Maximum number of helm processes at a time; each takes about 80 MiB of memory
    #[arg(long, env, value_name = "NUMBER", value_parser = value_parser!(u16).range(1..), default_value_t = 4)]
    pub helm_processes: u16,
}
