//! A runtime for Kubernetes operators written with [kube], like controller-runtime for Go.
//!
//! A [`Manager`] runs controllers, webhooks and other tasks: it parses the arguments, sets up logging, elects a leader,
//! serves probes and metrics, and shuts everything down in order. A [`Controller`] watches the objects of a kind and
//! their children, and calls a `reconcile` function. The [`Outcome`] that it returns is written to the status of the
//! object.
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
//! The crate uses kube directly: `Api`, `Action`, `Condition` and `ObjectRef` are the types of kube and k8s-openapi,
//! and a controller built with [`kube::runtime::Controller`] runs under the same manager as a [`Runnable`].
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `manager` | everything except what the following features add |
//! | `webhook` | admission webhooks, their certificates and registration |
//! | `conversion` | conversion webhooks |
//! | `helm` | releases of Helm charts |
//! | `ansible` | controllers for Ansible roles and playbooks |
//! | `shards` | several active replicas, each with a share of the objects |
//! | `otlp` | export of spans to an OpenTelemetry collector |
//! | `testing` | a mock API server for unit tests, round-trip tests for conversions |
//! | `latest` | the latest Kubernetes version of k8s-openapi; only for building this crate by itself |
#![cfg(feature = "manager")]
#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "ansible")]
pub mod ansible;
mod apply;
pub mod client;
pub mod conditions;
mod context;
pub mod controller;
pub mod crds;
#[cfg(any(feature = "ansible", feature = "helm"))]
mod digest;
mod error;
#[cfg(feature = "helm")]
pub mod helm;
#[cfg(any(feature = "ansible", feature = "helm"))]
mod kinds;
mod leader_election;
pub mod manager;
mod names;
#[cfg(any(feature = "ansible", feature = "helm"))]
mod processes;
#[cfg(any(feature = "ansible", feature = "helm"))]
mod proxy;
pub mod server;
#[cfg(feature = "shards")]
pub mod shards;
pub mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(any(feature = "ansible", feature = "helm"))]
mod untyped;
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
