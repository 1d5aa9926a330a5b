//! Ansible: a controller that runs a role or a playbook for each object of a kind.
//!
//! The `ansible-runner` program does the work; this crate links none of it. It starts the program only if something has changed, and
//! what it compares is in the status: the inputs of the last run, and the objects that it made. So an object that has not changed costs
//! no process, and neither does a restart.
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
//! Everything that a watch in operator-sdk's `watches.yaml` has can be set:
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
//! The annotations `ansible.sdk.operatorframework.io/reconcile-period`, `max-runner-artifacts` and `verbosity` of an object win over these.
//!
//! # The variables of a run
//!
//! | variable | value |
//! |---|---|
//! | `ansible_operator_meta` | `name` and `namespace` of the object |
//! | each key of the spec | its value; `fooBar` is `foo_bar`, at any depth |
//! | `_<group>_<kind>` | the object as it is in the cluster, such as `_cache_example_com_memcached` |
//! | `_<group>_<kind>_spec` | its spec as it is |
//! | those of [`vars`](AnsibleController::vars), then those of the finalizer | they win over the others |
//!
//! # What a run says
//!
//! A role sets fields of the status, and asks for another run, with
//!
//! ```yaml
//! - ansible.builtin.set_stats:
//!     data:
//!       status: { nodes: "{{ nodes }}" }
//!       requeue_after: 30s
//! ```
//!
//! The conditions are `Running`, `Successful`, `Failure`, and `Ready`, which sums them up unless the role sets it itself.
//!
//! # When there is a run
//!
//! If the spec, the variables, the role, or an object that a run made has changed; if the last run failed, after 10, 20, 40 … seconds, up to
//! 10 minutes; if its period or the role asks for it; and if the annotation `opctl-runtime/retry` of the object gets another value.
//!
//! # What a run made
//!
//! The requests of a run pass through the operator: its kubeconfig names a proxy for this run alone. An object that a task creates belongs
//! to the object of the run, whatever module or program creates it, and also with `no_log`: Kubernetes deletes it too, and a change of it
//! causes a run. Its owner is in the request that creates it. What a task patches, or what existed before, belongs to others and stays. What
//! cannot be owned, since it is in another namespace or in none, has the annotation `opctl-runtime/owner` instead. The operator needs `get`,
//! `list`, `patch` and `watch` for the kinds of all these objects; without a namespace, `get` and `patch` are enough unless they are watched.
//!
//! An event of the object names what is not deleted with it, unless there is a finalizer which can do that: what is in another namespace, or
//! in none. What a task creates with credentials of its own (`kubeconfig`, `host`, `api_key`) is not known.

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
