//! Ansible: a controller that runs a role or a playbook for each object of a kind.
//!
//! The `ansible-runner` program does the work; this crate links none of it. It is started only if something has
//! changed. The status has the data for this comparison: the inputs of the last run, and the objects that it created.
//! So an unchanged object costs no process, not even after a restart.
//!
//! ```no_run
//! # use k8s_openapi::api::core::v1::ConfigMap as Memcached;
//! # use opctl_runtime::Runnable;
//! # use opctl_runtime::ansible::AnsibleController;
//! /// Runs the role in `roles/memcached`.
//! pub fn controller() -> Runnable {
//!     AnsibleController::<Memcached>::role("memcached").into()
//! }
//! ```
//!
//! Every setting of a watch in operator-sdk's `watches.yaml` is available:
//!
//! ```
//! # use std::time::Duration;
//! # use k8s_openapi::api::core::v1::ConfigMap as Memcached;
//! # use kube::runtime::watcher;
//! # use opctl_runtime::ansible::{AnsibleController, Finalizer};
//! # use serde_json::json;
//! # let _ =
//! AnsibleController::<Memcached>::playbook("playbooks/memcached.yml")
//!     .vars(json!({ "image": "{{ lookup('env', 'RELATED_IMAGE_MEMCACHED') }}" }))
//!     .finalizer(Finalizer::new("cache.example.com/finalizer").role("cleanup").vars(json!({ "state": "absent" })))
//!     .period(Duration::from_secs(600))
//!     .config(watcher::Config::default().labels("app=web"))
//!     .unwatched("v1", "Pod")
//!     .timeout(Duration::from_secs(300))
//! # ;
//! ```
//!
//! | `watches.yaml` | here |
//! |---|---|
//! | `role`, `playbook` | [`role`](AnsibleController::role), [`playbook`](AnsibleController::playbook) |
//! | `vars` | [`vars`](AnsibleController::vars); `${NAME}` is written as `{{ lookup('env', 'NAME') }}` |
//! | `finalizer` | [`finalizer`](AnsibleController::finalizer) |
//! | `reconcilePeriod` | [`period`](AnsibleController::period) |
//! | `manageStatus: false` | [`manage_status(false)`](AnsibleController::manage_status) |
//! | `watchDependentResources: false` | [`watch_dependents(false)`](AnsibleController::watch_dependents) |
//! | `watchClusterScopedResources: true` | [`watch_cluster_scoped(true)`](AnsibleController::watch_cluster_scoped) |
//! | `watchAnnotationsChanges: true` | [`watch_annotations(true)`](AnsibleController::watch_annotations) |
//! | `snakeCaseParameters: false` | [`snake_case(false)`](AnsibleController::snake_case) |
//! | `markUnsafe` | [`mark_unsafe`](AnsibleController::mark_unsafe), which is on unless it is turned off |
//! | `maxRunnerArtifacts` | [`keep_runs`](AnsibleController::keep_runs) |
//! | `blacklist` | [`unwatched`](AnsibleController::unwatched) |
//! | `selector` | [`config`](AnsibleController::config) |
//!
//! The annotations `ansible.sdk.operatorframework.io/reconcile-period`, `max-runner-artifacts` and `verbosity` of an
//! object take precedence.
//!
//! # Variables of a run
//!
//! | variable | value |
//! |---|---|
//! | `ansible_operator_meta` | `name` and `namespace` of the object |
//! | each key of the spec | its value; `fooBar` is `foo_bar`, at any depth |
//! | `_<group>_<kind>` | the whole object, such as `_cache_example_com_memcached` |
//! | `_<group>_<kind>_spec` | its spec, with unchanged keys |
//! | [`vars`](AnsibleController::vars), then those of the finalizer | take precedence over the others |
//!
//! # Output of a run
//!
//! A role sets fields of the status, and requests another run, with
//!
//! ```yaml
//! - ansible.builtin.set_stats:
//!     data:
//!       status: { nodes: "{{ nodes }}" }
//!       requeue_after: 30s
//! ```
//!
//! The conditions are `Running`, `Successful` and `Failure`, and `Ready`, which summarizes them unless the role sets
//! it.
//!
//! # Causes of a run
//!
//! A run starts if the spec, the variables, the role, or an object that a run created has changed; after a failed run,
//! with a delay of 10, 20, 40 … seconds, up to 10 minutes; after the period, or when the role requested it; and if the
//! value of the object's annotation `opctl-runtime/retry` changes.
//!
//! # Created objects
//!
//! The requests of a run pass through the operator: its kubeconfig has the address of a proxy for this run. The owner
//! of an object that a task creates is the object of the run, whatever module or program creates it, and also with
//! `no_log`. Kubernetes deletes it with its owner, and a change of it causes a run. The owner is set in the request
//! that creates the object. Objects that a task only patches, or that existed before, get no owner and are kept. An
//! object that cannot have the owner, since it is in another namespace or cluster-scoped, has the annotation
//! `opctl-runtime/owner` instead. The operator needs `get`, `list`, `patch` and `watch` for the kinds of all these
//! objects; for cluster-scoped ones, `get` and `patch` are enough unless they are watched.
//!
//! Objects in another namespace and cluster-scoped ones are not deleted with the object. Unless a finalizer can delete
//! them, an event of the object lists them. Objects that a task creates with its own credentials (`kubeconfig`, `host`,
//! `api_key`) are not tracked.

mod controller;
mod dependents;
mod events;
mod object;
mod operator_sdk_util;
mod ownership;
mod process;
mod project;
mod status;
mod vars;

use std::path::PathBuf;

use clap::value_parser;

pub(crate) use process::Ansible;
pub use {
    controller::{AnsibleController, Finalizer},
    status::{AnsibleStatus, Dependent, Run},
};

/// The arguments of a manager for Ansible; each can be an environment variable too.
#[derive(Clone, Debug, clap::Args)]
pub struct AnsibleOptions {
    /// The folder with `roles`, `playbooks` and `collections`
    #[arg(long, env, value_name = "FOLDER", default_value = ".")]
    pub ansible_project: PathBuf,
    /// The ansible-runner program, version 2.4 or newer
    #[arg(long, env, value_name = "PROGRAM", default_value = "ansible-runner")]
    pub ansible_runner: PathBuf,
    /// Maximum number of runs at a time, of all kinds together; each takes about 200 MiB of memory
    #[arg(long, env, value_name = "NUMBER", value_parser = value_parser!(u16).range(1..), default_value_t = 2)]
    pub ansible_processes: u16,
    /// The folder for the files of runs, which only this user can read; a folder below the one for temporary files without it
    #[arg(long, env, value_name = "FOLDER")]
    pub ansible_runs: Option<PathBuf>,
    /// More arguments for ansible-playbook, such as `--skip-tags slow`
    #[arg(long, env, value_name = "ARGUMENTS", default_value = "", allow_hyphen_values = true)]
    pub ansible_args: String,
}
