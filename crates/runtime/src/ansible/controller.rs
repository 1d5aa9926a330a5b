//! A controller that runs a role or a playbook for each object of a kind.

use std::marker::PhantomData;
use std::time::Duration;

use kube::runtime::watcher;
use serde::Serialize;
use serde_json::{Map, Value};

/// A controller that runs an Ansible role or playbook for each object of kind `K`, when the object, the role, or an object that it made
/// changes. The [module](super) has examples, and says which variables a run gets. The status is an
/// [`AnsibleStatus`](super::AnsibleStatus).
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create
pub struct AnsibleController<K> {
    play: Play,
    vars: Map<String, Value>,
    finalizer: Option<Finalizer>,
    name: Option<&'static str>,
    config: watcher::Config,
    settings: Settings,
    kind: PhantomData<fn() -> K>,
}

/// What is run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Play {
    Role(String),
    Playbook(String),
}

/// How it is run, and what causes it.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub period: Option<Duration>,
    pub timeout: Duration,
    pub manages_status: bool,
    pub watches_dependents: bool,
    pub watches_cluster_scoped: bool,
    pub watches_annotations: bool,
    pub marks_unsafe: bool,
    pub is_snake_case: bool,
    pub kept_runs: u16,
    pub verbosity: u8,
    /// Kinds that are not watched: the group and version, and the kind.
    pub unwatched: Vec<(String, String)>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            period: None,
            timeout: Duration::from_secs(3600),
            manages_status: true,
            watches_dependents: true,
            watches_cluster_scoped: false,
            watches_annotations: false,
            marks_unsafe: true,
            is_snake_case: true,
            kept_runs: 20,
            verbosity: 0,
            unwatched: Vec::new(),
        }
    }
}

/// What is run before an object is deleted: a role or playbook of its own, or else the controller's, with these variables on top.
///
/// ```
/// # use k8s_openapi::api::core::v1::ConfigMap as Memcached;
/// # use opctl_runtime::ansible::{AnsibleController, Finalizer};
/// # use serde_json::json;
/// # let _ =
/// AnsibleController::<Memcached>::role("memcached")
///     .finalizer(Finalizer::new("cache.example.com/finalizer").vars(json!({ "state": "absent" })))
/// # ;
/// ```
#[derive(Clone, Debug)]
pub struct Finalizer {
    pub(super) name: &'static str,
    pub(super) play: Option<Play>,
    pub(super) vars: Map<String, Value>,
}

impl Finalizer {
    /// The finalizer of this name (`<domain>/<name>`), which keeps an object until the run has succeeded.
    pub fn new(name: &'static str) -> Self {
        Self { name, play: None, vars: Map::new() }
    }

    /// Runs this role instead of what the controller runs.
    #[must_use]
    pub fn role(self, name: impl Into<String>) -> Self {
        Self { play: Some(Play::Role(name.into())), ..self }
    }

    /// Runs this playbook instead of what the controller runs.
    #[must_use]
    pub fn playbook(self, path: impl Into<String>) -> Self {
        Self { play: Some(Play::Playbook(path.into())), ..self }
    }

    /// Sets variables, which win over those of the controller.
    ///
    /// # Panics
    ///
    /// If they are not a map with strings as keys.
    #[must_use]
    pub fn vars(self, vars: impl Serialize) -> Self {
        Self { vars: variables(&vars), ..self }
    }
}

impl<K> AnsibleController<K> {
    /// Runs a role: the name of a folder in `roles` below `--ansible-project`, or in `ANSIBLE_ROLES_PATH`, or of a role in a collection
    /// (`<namespace>.<collection>.<role>`). It runs on `localhost`, and gathers no facts unless `ANSIBLE_GATHERING` says so.
    pub fn role(name: impl Into<String>) -> Self {
        Self::new(Play::Role(name.into()))
    }

    /// Runs a playbook: its path below `--ansible-project`, or an absolute one. Its hosts are `localhost`, or what `ANSIBLE_INVENTORY` names.
    pub fn playbook(path: impl Into<String>) -> Self {
        Self::new(Play::Playbook(path.into()))
    }

    fn new(play: Play) -> Self {
        Self {
            play,
            vars: Map::new(),
            finalizer: None,
            name: None,
            config: watcher::Config::default(),
            settings: Settings::default(),
            kind: PhantomData,
        }
    }

    /// Sets variables for all objects, which win over the spec. A string may be a Jinja template, such as
    /// `{{ lookup('env', 'RELATED_IMAGE_WEB') }}`, and a map with the only key `__ansible_vault` is what `ansible-vault encrypt_string`
    /// prints.
    ///
    /// # Panics
    ///
    /// If they are not a map with strings as keys.
    #[must_use]
    pub fn vars(self, vars: impl Serialize) -> Self {
        Self { vars: variables(&vars), ..self }
    }

    /// Runs something before an object is deleted.
    #[must_use]
    pub fn finalizer(self, finalizer: Finalizer) -> Self {
        Self { finalizer: Some(finalizer), ..self }
    }

    /// Runs again this long after a run has ended, even if nothing has changed. Without it, only a change causes a run.
    #[must_use]
    pub fn period(mut self, period: Duration) -> Self {
        self.settings.period = Some(period);
        self
    }

    /// Ends a run that takes longer, as a failure: 1 hour without it.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// Whether the status is written: it is without this. Otherwise, the role has to write it, and each object is run once after each
    /// start of the operator.
    #[must_use]
    pub fn manage_status(mut self, is_managed: bool) -> Self {
        self.settings.manages_status = is_managed;
        self
    }

    /// Whether a change of an object that a run made causes another one: it does without this.
    #[must_use]
    pub fn watch_dependents(mut self, is_watched: bool) -> Self {
        self.settings.watches_dependents = is_watched;
        self
    }

    /// Whether that is so for objects without a namespace, too: it is not without this.
    #[must_use]
    pub fn watch_cluster_scoped(mut self, is_watched: bool) -> Self {
        self.settings.watches_cluster_scoped = is_watched;
        self
    }

    /// Whether a change of the annotations or labels of the object causes a run: it does not without this.
    #[must_use]
    pub fn watch_annotations(mut self, is_watched: bool) -> Self {
        self.settings.watches_annotations = is_watched;
        self
    }

    /// Does not watch objects of this kind: `.unwatched("apps/v1", "Deployment")`.
    #[must_use]
    pub fn unwatched(mut self, api_version: &str, kind: &str) -> Self {
        self.settings.unwatched.push((api_version.to_owned(), kind.to_owned()));
        self
    }

    /// Whether strings of the object stay as they are: they do without this. Otherwise, Ansible evaluates Jinja templates in them, and
    /// keys of the spec can be variables of Ansible itself, such as `ansible_connection`: then everyone who may create an object may run
    /// programs in the operator.
    #[must_use]
    pub fn mark_unsafe(mut self, is_marked: bool) -> Self {
        self.settings.marks_unsafe = is_marked;
        self
    }

    /// Whether the keys of the spec are written in snake case as variables: they are without this.
    #[must_use]
    pub fn snake_case(mut self, is_converted: bool) -> Self {
        self.settings.is_snake_case = is_converted;
        self
    }

    /// Keeps the files of this many runs of an object in `--ansible-runs`: 20 without it.
    #[must_use]
    pub fn keep_runs(mut self, number: u16) -> Self {
        self.settings.kept_runs = number;
        self
    }

    /// The number of `v` in `ansible-playbook -vv`, up to 7: what it prints is among the files of the run.
    #[must_use]
    pub fn verbosity(mut self, level: u8) -> Self {
        self.settings.verbosity = level.min(7);
        self
    }

    /// Names the controller in probes, metrics, logs and its field manager, for a second controller of the kind.
    #[must_use]
    pub fn named(self, name: &'static str) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Watches only what this selects, such as `watcher::Config::default().labels("app=web")`.
    #[must_use]
    pub fn config(self, config: watcher::Config) -> Self {
        Self { config, ..self }
    }
}

fn variables(vars: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(vars) {
        Ok(Value::Object(vars)) => vars,
        _ => panic!("variables are a map with strings as keys, such as `json!({{ \"state\": \"present\" }})`"),
    }
}
