//! The runtime of Kubernetes operators written with [kube]: what controller-runtime is for Go.
//!
//! A [`Manager`] runs controllers, webhooks and other tasks together: it reads the arguments, writes logs, elects a leader,
//! serves probes and metrics, and shuts everything down in order. A [`Controller`] watches objects of a kind and what belongs
//! to them, and calls a `reconcile` function, whose [`Outcome`] becomes the status of the object.
//!
//! ```no_run
//! use std::process::ExitCode;
//! use std::sync::Arc;
//!
//! use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
//! use kube::ResourceExt;
//! use kube::runtime::controller::Action;
//! use opctl_runtime::{Children, Context, Controller, Manager, Result, Runnable, operator};
//!
//! /// Keeps a ConfigMap with the name of its Namespace in every Namespace.
//! async fn reconcile(namespace: Arc<Namespace>, ctx: Arc<Context>) -> Result<Action> {
//!     let mut labels = ConfigMap::default();
//!     labels.metadata.name = Some("labels".to_owned());
//!     labels.metadata.namespace = namespace.metadata.name.clone();
//!     labels.data = Some([("namespace".to_owned(), namespace.name_any())].into());
//!     let mut children = Children::of(&*namespace, &ctx);
//!     children.apply(labels).await?;
//!     Ok(ctx.requeue())
//! }
//!
//! fn controller() -> Runnable {
//!     Controller::<Namespace>::new(reconcile).owns::<ConfigMap>().into()
//! }
//!
//! #[tokio::main]
//! async fn main() -> ExitCode {
//!     Manager::new(operator!()).run(vec![controller()]).await
//! }
//! ```
//!
//! Everything is plain kube: `Api`, `Action`, `Condition` and `ObjectRef` are kube's and k8s-openapi's own types, and a
//! controller built with [`kube::runtime::Controller`] runs under the same manager as a [`Runnable`].
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `manager` | everything but the following |
//! | `webhook` | admission webhooks, their certificates and registration |
//! | `conversion` | conversion webhooks |
//! | `otlp` | export of spans to an OpenTelemetry collector |
//! | `testing` | an API server for unit tests, round-trip tests of conversions |
//! | `latest` | the latest version of Kubernetes that k8s-openapi knows, to build this crate alone |
#![cfg(feature = "manager")]
#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod apply;
pub mod client;
pub mod conditions;
mod context;
pub mod controller;
pub mod crds;
mod error;
mod leader_election;
pub mod manager;
mod names;
pub mod server;
pub mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "webhook")]
pub mod webhook;

pub use {
    apply::{apply, apply_status},
    context::{Context, Readiness},
    controller::{Children, Controller, Outcome},
    error::{Error, Result, ResultExt, brief, with_causes},
    manager::{Manager, Operator, Options, Runnable, Runs},
    names::child_name,
};
