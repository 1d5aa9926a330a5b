//! A controller that runs a role or a playbook for each object of a kind.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use kube::api::ApiResource;
use kube::runtime::events::EventType;
use kube::runtime::watcher;
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tracing::{info, warn};

use super::dependents::refreshed;
use super::events::{Summary, duration};
use super::object::{Fresh, fresh};
use super::operator_sdk_util::{self, Foreign};
use super::ownership::{Findings, Owner, Ownership};
use super::process::{Failure, Job};
use super::status::{Dependent, Run};
use super::vars::variables;
use crate::conditions::{READY, Status, condition};
use crate::controller::{Controller, jittered};
use crate::digest::{canonical, digest};
use crate::manager::{self, Runnable};
use crate::proxy::Proxy;
use crate::untyped::Untyped;
use crate::{Context, Error, Outcome, Result};

/// A controller that runs an Ansible role or playbook for each object of kind `K`, if the object, the role, or an
/// object that it created changes. The [module](super) has examples, and describes the variables of a run. The status
/// is an [`AnsibleStatus`](super::AnsibleStatus).
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create
pub struct AnsibleController<K> {
    play: Play,
    vars: Map<String, Value>,
    finalizer: Option<Finalizer>,
    name: Option<&'static str>,
    config: watcher::Config,
    settings: Settings,
    /// A digest of the inputs that are the same for all objects.
    digest: OnceLock<String>,
    /// By the uid of the object.
    records: Mutex<HashMap<String, Record>>,
    kind: PhantomData<fn() -> K>,
}

/// The kinds that an `AnsibleController` supports: types with `#[derive(CustomResource)]`, and those of Kubernetes.
pub trait Kind: Resource<DynamicType = (), Scope: 'static> + Send + Sync + 'static {}

impl<K: Resource<DynamicType = (), Scope: 'static> + Send + Sync + 'static> Kind for K {}

/// The content of a run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Play {
    Role(String),
    Playbook(String),
}

impl fmt::Display for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Role(name) => write!(f, "the role `{name}`"),
            Self::Playbook(path) => write!(f, "the playbook `{path}`"),
        }
    }
}

/// The settings of runs, and their causes.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub period: Option<Duration>,
    pub timeout: Duration,
    pub manages_status: bool,
    pub watches_dependents: bool,
    pub watches_cluster_scoped: bool,
    pub watches_annotations: bool,
    pub marks_unsafe: bool,
    pub allows_broken_conditionals: bool,
    pub is_snake_case: bool,
    pub kept_runs: u16,
    pub verbosity: u8,
    /// `apiVersion` and kind of dependents that are not watched.
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
            allows_broken_conditionals: false,
            is_snake_case: true,
            kept_runs: 20,
            verbosity: 0,
            unwatched: Vec::new(),
        }
    }
}

/// A run before an object is deleted: a role or playbook, by default that of the controller, with additional variables.
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
    /// A finalizer with this name (`<domain>/<name>`), which is removed after the run has succeeded.
    pub fn new(name: &'static str) -> Self {
        Self { name, play: None, vars: Map::new() }
    }

    /// Runs this role instead of that of the controller.
    #[must_use]
    pub fn role(self, name: impl Into<String>) -> Self {
        Self { play: Some(Play::Role(name.into())), ..self }
    }

    /// Runs this playbook instead of that of the controller.
    #[must_use]
    pub fn playbook(self, path: impl Into<String>) -> Self {
        Self { play: Some(Play::Playbook(path.into())), ..self }
    }

    /// Sets variables, which take precedence over those of the controller.
    ///
    /// # Panics
    ///
    /// If they are not a map with strings as keys.
    #[must_use]
    pub fn vars(self, vars: impl Serialize) -> Self {
        Self { vars: map(&vars), ..self }
    }
}

impl<K> AnsibleController<K> {
    /// Runs a role: the name of a folder in `roles` below `--ansible-project`, or in `ANSIBLE_ROLES_PATH`, or of a role
    /// in a collection (`<namespace>.<collection>.<role>`). It runs on `localhost`, and gathers no facts unless
    /// `ANSIBLE_GATHERING` enables it.
    pub fn role(name: impl Into<String>) -> Self {
        Self::new(Play::Role(name.into()))
    }

    /// Runs a playbook: its path below `--ansible-project`, or an absolute path. Its hosts are `localhost`, or those of
    /// `ANSIBLE_INVENTORY`.
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
            digest: OnceLock::new(),
            records: Mutex::default(),
            kind: PhantomData,
        }
    }

    /// Sets variables for all objects, which take precedence over the spec. A string may be a Jinja template, such as
    /// `{{ lookup('env', 'RELATED_IMAGE_WEB') }}`. A map with the single key `__ansible_vault` is the output of
    /// `ansible-vault encrypt_string`.
    ///
    /// # Panics
    ///
    /// If they are not a map with strings as keys.
    #[must_use]
    pub fn vars(self, vars: impl Serialize) -> Self {
        Self { vars: map(&vars), ..self }
    }

    /// Adds a run before an object is deleted.
    #[must_use]
    pub fn finalizer(self, finalizer: Finalizer) -> Self {
        Self { finalizer: Some(finalizer), ..self }
    }

    /// Sets the time after a run until the next one, even without changes. By default, only a change causes a run.
    #[must_use]
    pub fn period(mut self, period: Duration) -> Self {
        self.settings.period = Some(period);
        self
    }

    /// Sets the timeout of a run, after which it is terminated and counts as failed. The default is 1 hour.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// Sets whether the operator writes the status. The default is `true`. Otherwise, the role has to write it, and
    /// each object gets a run after each start of the operator.
    #[must_use]
    pub fn manage_status(mut self, is_managed: bool) -> Self {
        self.settings.manages_status = is_managed;
        self
    }

    /// Sets whether a change of an object that a run created causes another run. The default is `true`.
    #[must_use]
    pub fn watch_dependents(mut self, is_watched: bool) -> Self {
        self.settings.watches_dependents = is_watched;
        self
    }

    /// Sets whether [`watch_dependents`](Self::watch_dependents) includes cluster-scoped objects. The default is
    /// `false`.
    #[must_use]
    pub fn watch_cluster_scoped(mut self, is_watched: bool) -> Self {
        self.settings.watches_cluster_scoped = is_watched;
        self
    }

    /// Sets whether a change of the annotations or labels of the object causes a run. The default is `false`.
    #[must_use]
    pub fn watch_annotations(mut self, is_watched: bool) -> Self {
        self.settings.watches_annotations = is_watched;
        self
    }

    /// Disables watches of dependents of this kind: `.unwatched("apps/v1", "Deployment")`.
    #[must_use]
    pub fn unwatched(mut self, api_version: &str, kind: &str) -> Self {
        self.settings.unwatched.push((api_version.to_owned(), kind.to_owned()));
        self
    }

    /// Sets whether strings of the object are marked as unsafe, so that Ansible does not evaluate them. The default is
    /// `true`. Otherwise, Ansible evaluates Jinja templates in them, and keys of the spec can be variables of Ansible
    /// itself, such as `ansible_connection`: everyone who may create an object can run programs in the operator.
    #[must_use]
    pub fn mark_unsafe(mut self, is_marked: bool) -> Self {
        self.settings.marks_unsafe = is_marked;
        self
    }

    /// Sets whether a condition may have another value than true and false, such as `when: items | length`. The default is
    /// that of Ansible: `false` since ansible-core 2.19. `ANSIBLE_ALLOW_BROKEN_CONDITIONALS` in the environment of the
    /// operator takes precedence.
    #[must_use]
    pub fn allow_broken_conditionals(mut self, are_allowed: bool) -> Self {
        self.settings.allows_broken_conditionals = are_allowed;
        self
    }

    /// Sets whether the keys of the spec are converted to snake case for variables. The default is `true`.
    #[must_use]
    pub fn snake_case(mut self, is_converted: bool) -> Self {
        self.settings.is_snake_case = is_converted;
        self
    }

    /// Sets the number of runs per object whose files are kept in `--ansible-runs`. The default is 20.
    #[must_use]
    pub fn keep_runs(mut self, number: u16) -> Self {
        self.settings.kept_runs = number;
        self
    }

    /// Sets the number of `v` in `ansible-playbook -vv`, up to 7. The output is among the files of the run. The default
    /// is 0.
    #[must_use]
    pub fn verbosity(mut self, level: u8) -> Self {
        self.settings.verbosity = level.min(7);
        self
    }

    /// Sets the name of the controller in probes, metrics, logs and its field manager, for a second controller of the
    /// kind.
    #[must_use]
    pub fn named(self, name: &'static str) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Restricts the watch to selected objects: `watcher::Config::default().labels("app=web")`.
    #[must_use]
    pub fn config(self, config: watcher::Config) -> Self {
        Self { config, ..self }
    }
}

/// State of an object: the last run, and the status fields that it has set. It is kept in memory, since a watch may
/// return an older status, and in the status, for the next process.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    run: Option<Run>,
    fields: Map<String, Value>,
    conditions: Vec<Condition>,
    is_failed: bool,
    /// The inputs of the run that the status reports as running.
    announced: Option<String>,
    /// The namespace that the controller of the object watches; `None` for all.
    scope: Option<String>,
}

/// The cause of a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Cause {
    /// The object or the role has changed, or an earlier process did not finish the run.
    Changed,
    /// The last run has failed.
    Failed,
    /// The role requested it, or the period is over.
    Due,
    /// An object that an earlier run made has changed.
    Drifted,
}

impl Record {
    /// Restores the state from the status of an object, if this process has not run anything for it yet.
    fn of(status: &Value) -> Self {
        let mut fields = status.as_object().cloned().unwrap_or_default();
        let run = fields.remove("lastRun").and_then(|run| serde_json::from_value(run).ok());
        fields.remove("observedGeneration");
        let conditions = fields.remove("conditions").unwrap_or_default();
        let conditions = conditions.as_array().into_iter().flatten();
        let conditions = conditions.filter_map(|it| serde_json::from_value(it.clone()).ok()).collect();
        Self { run, fields, conditions, ..Self::default() }
    }

    /// Drops fields and conditions that a task writes itself: an older value must not overwrite them.
    fn leave(&mut self, foreign: &Foreign) {
        self.fields.retain(|name, _| !foreign.fields.contains(name));
        let own = [READY, RUNNING, SUCCESSFUL, FAILURE];
        self.conditions.retain(|it| own.contains(&it.type_.as_str()) || !foreign.conditions.contains(&it.type_));
    }

    fn is_running(&self) -> bool {
        self.conditions.iter().any(|it| it.type_ == RUNNING && it.status == "True")
    }

    fn set(&mut self, type_: &str, status: Status, reason: &str, message: impl Into<String>) {
        self.conditions.retain(|it| it.type_ != type_);
        self.conditions.push(condition(type_, status, reason, message));
    }

    /// The cause of a run that is due now, or else the time until the next run.
    fn due(&self, inputs: &str, period: Option<Duration>) -> Result<Cause, Option<Duration>> {
        let Some(run) = &self.run else { return Ok(Cause::Changed) };
        let Ok(finished) = run.finished.parse::<Timestamp>() else { return Ok(Cause::Changed) };
        if run.inputs != inputs || self.is_running() {
            return Ok(Cause::Changed);
        }
        let left = |from: Timestamp, pause: Duration| {
            pause.saturating_sub(Timestamp::now().duration_since(from).unsigned_abs())
        };
        if run.failures > 0 {
            let left = left(finished, pause(run.failures));
            return if left.is_zero() { Ok(Cause::Failed) } else { Err(Some(left)) };
        }
        let next = run.next.as_ref().and_then(|next| next.parse::<Timestamp>().ok());
        let next = next.map(|next| Timestamp::now().duration_until(next).try_into().unwrap_or_default());
        match period.map(|period| left(finished, period)).into_iter().chain(next).min() {
            Some(Duration::ZERO) => Ok(Cause::Due),
            left => Err(left),
        }
    }

    fn outcome(&self) -> Outcome {
        let mut status = self.fields.clone();
        status.extend(self.run.clone().map(|mut run| {
            if run.dependents.len() > MANY {
                // Without the list, the next process has to run the role once.
                (run.dependents, run.inputs) = (Vec::new(), String::new());
            }
            ("lastRun".to_owned(), json!(run))
        }));
        let ready = self.conditions.iter().find(|it| it.type_ == READY).cloned();
        let outcome = match ready {
            Some(ready) if self.is_failed => Outcome::failed(&ready.reason, ready.message),
            Some(ready) => ready.into(),
            None => Outcome::not_ready(RUNNING, "there was no run yet"),
        };
        // No events for these conditions, since `Ready` reports the same.
        let outcome = [RUNNING, SUCCESSFUL, FAILURE].into_iter().fold(outcome, Outcome::silent);
        let others = self.conditions.iter().filter(|it| it.type_ != READY).cloned();
        others.fold(outcome, Outcome::condition).status(status)
    }
}

const RUNNING: &str = "Running";
const SUCCESSFUL: &str = "Successful";
const FAILURE: &str = "Failure";
const FAILED: &str = "Failed";

/// The maximum number of objects listed in a status. Each takes about 200 bytes.
const MANY: usize = 500;

/// A change of this annotation's value causes a run.
const RETRY: &str = "opctl-runtime/retry";
const ANNOTATIONS: &str = "ansible.sdk.operatorframework.io/";

/// The delay after this number of failures: 10 seconds, doubled each time, up to 10 minutes.
fn pause(failures: i64) -> Duration {
    let before = u32::try_from(failures.saturating_sub(1)).unwrap_or_default();
    let doubled = Duration::from_secs(10).saturating_mul(2_u32.saturating_pow(before));
    doubled.min(Duration::from_secs(600))
}

impl<K: Kind> From<AnsibleController<K>> for Runnable {
    fn from(mut this: AnsibleController<K>) -> Self {
        let (name, config) = (this.name, std::mem::take(&mut this.config));
        let finalizer = this.finalizer.as_ref().map(|it| it.name);
        let manages_status = this.settings.manages_status;
        let this = Arc::new(this);
        let [reconciler, cleaner, checker] = [(); 3].map(|()| this.clone());
        let controller = match manages_status {
            true => Controller::<Untyped<K>>::new(move |object, ctx| reconciler.clone().reconcile(object, ctx)),
            false => Controller::<Untyped<K>>::new(move |object, ctx: Arc<Context>| {
                let requeue = ctx.requeue();
                let outcome = reconciler.clone().reconcile(object, ctx);
                outcome.map(|outcome| outcome.map(|it| it.action().cloned().unwrap_or(requeue)))
            }),
        };
        let controller = controller.config(config).triggered().check(move |ctx| checker.clone().check(ctx).boxed());
        let controller = name.into_iter().fold(controller, Controller::named);
        match finalizer {
            Some(name) => controller.finalizer(name, move |object, ctx| cleaner.clone().clean_up(object, ctx)).into(),
            None => controller.into(),
        }
    }
}

impl<K: Kind> AnsibleController<K> {
    /// Fails the start of the operator if every run would fail.
    async fn check(self: Arc<Self>, ctx: Context) -> Result<(), manager::Error> {
        let finalizer = self.finalizer.as_ref().and_then(|it| it.play.as_ref());
        let plays: Vec<&Play> = [&self.play].into_iter().chain(finalizer).collect();
        ctx.ansible.check(&plays).await?;
        self.digest(&ctx).map(drop).map_err(|error| manager::Error::Other(error.to_string().into()))
    }

    fn digest(&self, ctx: &Context) -> Result<String> {
        if let Some(digest) = self.digest.get() {
            return Ok(digest.clone());
        }
        let project = ctx.ansible.project()?;
        let found = project.find(&self.play).map_err(|why| Error::new("InvalidProject", why))?;
        let vars = canonical(&self.vars.clone().into());
        let files = project.digest(found.as_deref(), &vars)?;
        let settings = json!([self.settings.marks_unsafe, self.settings.is_snake_case]).to_string();
        let all = digest([&files, &vars, &settings, &self.play.to_string(), &ctx.options.ansible.ansible_args]);
        Ok(self.digest.get_or_init(|| all).clone())
    }

    /// The settings of an object, with its annotations applied. Invalid annotations are logged and ignored.
    fn settings_for(&self, object: &Untyped<K>) -> Settings {
        let mut settings = self.settings.clone();
        for (name, value) in object.annotations() {
            let Some(option) = name.strip_prefix(ANNOTATIONS) else { continue };
            let is_read = match option {
                "reconcile-period" => duration(value).map(|period| settings.period = Some(period)),
                "max-runner-artifacts" => value.parse().ok().map(|number| settings.kept_runs = number),
                "verbosity" => value.parse().ok().map(|level: u8| settings.verbosity = level.min(7)),
                _ => None,
            };
            if is_read.is_none() {
                warn!("the annotation {name} is unknown, or has a value that cannot be read: `{value}`");
            }
        }
        // Like operator-sdk, 0 disables the period.
        settings.period = settings.period.filter(|period| !period.is_zero());
        settings
    }

    /// A digest of all inputs of a run. A different digest requires a run.
    fn inputs(&self, object: &Untyped<K>, ctx: &Context) -> Result<String> {
        let metadata = match self.settings.watches_annotations {
            true => json!([object.labels(), object.annotations()]),
            false => json!(object.annotations().get(RETRY)),
        };
        let content = [&object.spec, &object.rest.clone().into(), &metadata].map(canonical);
        Ok(digest([self.digest(ctx)?].into_iter().chain(content)))
    }

    fn controller_name(&self) -> String {
        let resource = ApiResource::erase::<K>(&());
        self.name.map_or_else(|| format!("{}.{}", resource.plural, resource.group), str::to_owned)
    }

    async fn reconcile(self: Arc<Self>, object: Arc<Untyped<K>>, ctx: Arc<Context>) -> Result<Outcome> {
        let (uid, settings) = (object.uid().unwrap_or_default(), self.settings_for(&object));
        let inputs = self.inputs(&object, &ctx)?;
        let known = self.records().get(&uid).cloned();
        let is_new = known.is_none();
        let mut record = known.unwrap_or_else(|| match settings.manages_status {
            true => Record::of(&object.status),
            false => Record::default(),
        });
        record.scope = ctx.namespace().map(str::to_owned);
        let dependents = record.run.as_ref().map(|run| run.dependents.clone()).unwrap_or_default();
        if is_new {
            ctx.ansible.dependents.track(&*object, &dependents, &settings, &ctx).await?;
        }
        let cause = match record.due(&inputs, settings.period) {
            Ok(cause) => cause,
            Err(next) => {
                let watched: Vec<_> = dependents.into_iter().filter(|it| it.is_watched(&settings)).collect();
                let has_failed = record.run.as_ref().is_some_and(|run| run.failures > 0);
                if has_failed || refreshed(&watched, &ctx).await? == watched {
                    self.records().insert(uid, record.clone());
                    return Ok(requeued(record.outcome(), next, &ctx));
                }
                Cause::Drifted
            }
        };
        // Not for a periodic run: one that changes nothing would write the status twice.
        if settings.manages_status && cause != Cause::Due && record.announced.as_ref() != Some(&inputs) {
            let message = format!("{} is running, or waits for its turn", self.play);
            if cause == Cause::Changed {
                for name in [READY, SUCCESSFUL, FAILURE] {
                    record.set(name, Status::False, RUNNING, message.as_str());
                }
            }
            record.set(RUNNING, Status::True, RUNNING, message);
            (record.announced, record.is_failed) = (Some(inputs), false);
            self.records().insert(uid, record.clone());
            return Ok(record.outcome().requeue_after(Duration::ZERO));
        }
        let _turn = tokio::select! {
            turn = ctx.ansible.turn() => turn,
            () = ctx.shutdown() => return Ok(nothing()),
        };
        // The object may have changed while this waited for its turn.
        let Some(Fresh { object, json }) = fresh(&*object, &ctx).await? else { return Ok(nothing()) };
        if object.metadata.deletion_timestamp.is_some() {
            return Ok(nothing());
        }
        record.leave(&operator_sdk_util::foreign(&json));
        let (settings, inputs) = (self.settings_for(&object), self.inputs(&object, &ctx)?);
        info!("{} runs: {cause:?}", self.play);
        let ran = self.run(&self.play, &[&self.vars], &object, &json, &settings, &record, &ctx).await;
        let Some((result, dependents)) = ran? else { return Ok(nothing()) };
        ctx.ansible.dependents.track(&object, &dependents, &settings, &ctx).await?;
        self.note(&mut record, result, dependents, inputs);
        self.records().insert(uid, record.clone());
        self.forget_the_gone(&ctx);
        let next = record.due(&record.run.as_ref().map(|run| run.inputs.clone()).unwrap_or_default(), settings.period);
        Ok(requeued(record.outcome(), next.err().unwrap_or(Some(Duration::ZERO)), &ctx))
    }

    /// Records the result of a run.
    fn note(&self, record: &mut Record, result: Result<Summary, String>, dependents: Vec<Dependent>, inputs: String) {
        let before = record.run.take();
        let finished = Timestamp::now();
        let mut run = Run { inputs, finished: shown(finished), dependents, ..Run::default() };
        record.announced = None;
        let result = result.and_then(|summary| {
            let next = summary.requeue()?;
            run.next = next.and_then(|time| finished.checked_add(time).ok()).map(shown);
            Ok((summary.status()?, summary.stats.unwrap_or_default()))
        });
        record.is_failed = result.is_err();
        match result {
            Ok((fields, stats)) => {
                record.fields = fields;
                (run.ok, run.changed, run.skipped) = (stats.ok, stats.changed, stats.skipped);
                info!("{} succeeded: ok={} changed={}", self.play, run.ok, run.changed);
                let message = format!("{} has succeeded", self.play);
                record.set(RUNNING, Status::False, SUCCESSFUL, "there is no run until something changes");
                record.set(SUCCESSFUL, Status::True, SUCCESSFUL, message.as_str());
                record.set(FAILURE, Status::False, SUCCESSFUL, message.as_str());
                record.set(READY, Status::True, SUCCESSFUL, message);
                // The role may override `Ready`, and set conditions of its own.
                let own = record.fields.remove("conditions").unwrap_or_default();
                for own in own.as_array().into_iter().flatten() {
                    let text = |field: &str| own[field].as_str().unwrap_or_default();
                    let status = match text("status") {
                        "True" => Status::True,
                        "False" => Status::False,
                        _ => Status::Unknown,
                    };
                    if ![RUNNING, SUCCESSFUL, FAILURE, ""].contains(&text("type")) {
                        record.set(text("type"), status, text("reason"), text("message"));
                    }
                }
            }
            Err(why) => {
                warn!("{} failed: {why}", self.play);
                let count = before.filter(|before| before.inputs == run.inputs).map_or(0, |before| before.failures);
                run.failures = count.saturating_add(1);
                record.set(RUNNING, Status::False, FAILED, "it is tried again");
                record.set(SUCCESSFUL, Status::False, FAILED, why.as_str());
                record.set(FAILURE, Status::True, FAILED, why.as_str());
                record.set(READY, Status::False, FAILED, why);
            }
        }
        record.run = Some(run);
    }

    /// Runs a role or playbook for an object. `None` if the operator shuts down; otherwise the result, and the object's
    /// current dependents.
    #[expect(clippy::too_many_arguments, reason = "it is called twice, with what each caller has")]
    async fn run(
        &self,
        play: &Play,
        vars: &[&Map<String, Value>],
        object: &Untyped<K>,
        json: &Value,
        settings: &Settings,
        record: &Record,
        ctx: &Context,
    ) -> Result<Option<(Result<Summary, String>, Vec<Dependent>)>> {
        let uid = object.uid().unwrap_or_default();
        let known = record.run.as_ref().map(|run| run.dependents.clone()).unwrap_or_default();
        let variables = match variables::<K>(json, vars, settings) {
            Ok(variables) => variables,
            Err(error) => return Ok(Some((Err(error.to_string()), known))),
        };
        let ownership = Ownership::new(Owner::of(object)?, &known, ctx);
        let proxy = Proxy::start(ctx.client.clone(), ownership).await?;
        let namespace = object.metadata.namespace.as_deref().unwrap_or_else(|| ctx.client.default_namespace());
        let ident = format!("{}-{}", object.metadata.generation.unwrap_or_default(), Timestamp::now().as_millisecond());
        let folder = self.folder(ctx)?.join(&uid);
        let job = Job {
            key: &format!("{}/{uid}", self.controller_name()),
            folder: &folder,
            ident: &ident,
            play,
            variables: &variables,
            kubeconfig: &proxy.kubeconfig(namespace),
            timeout: settings.timeout,
            kept: settings.kept_runs,
            verbosity: settings.verbosity,
            allows_broken_conditionals: settings.allows_broken_conditionals,
        };
        let ran = ctx.ansible.run(ctx, job).await;
        let Findings { mut dependents, notes, errors } = std::mem::take(&mut *proxy.end().await.findings());
        let summary = match ran {
            Err(Failure::Stopped) => {
                info!("{play} was stopped; the next process runs it again");
                return Ok(None);
            }
            Err(Failure::Failed(why)) => Err(why),
            Ok(summary) => Ok(summary),
        };
        // Objects of an earlier run may belong to a task that was skipped this time.
        let unseen: Vec<_> = known.into_iter().filter(|known| !dependents.iter().any(|it| it.is(known))).collect();
        dependents.extend(refreshed(&unseen, ctx).await?);
        dependents.sort();
        if !notes.is_empty() {
            let note = format!("Kubernetes does not delete everything with this object: {}", joined(notes));
            warn!("{note}");
            if self.finalizer.is_none() {
                ctx.event(object, EventType::Warning, "NotOwned", note).await;
            }
        }
        let result = match summary {
            Ok(_) if !errors.is_empty() => Err(joined(errors)),
            summary => summary,
        };
        Ok(Some((result, dependents)))
    }

    async fn clean_up(self: Arc<Self>, object: Arc<Untyped<K>>, ctx: Arc<Context>) -> Result<()> {
        let Some(finalizer) = &self.finalizer else { return Ok(()) };
        let uid = object.uid().unwrap_or_default();
        let stopped = || Error::new("Interrupted", "the operator shuts down: the next process runs the finalizer");
        let _turn = tokio::select! {
            turn = ctx.ansible.turn() => turn,
            () = ctx.shutdown() => return Err(stopped()),
        };
        let Some(Fresh { object, json }) = fresh(&*object, &ctx).await? else { return Ok(()) };
        let settings = self.settings_for(&object);
        let record = self.records().get(&uid).cloned().unwrap_or_else(|| Record::of(&object.status));
        let (play, vars) = (finalizer.play.as_ref().unwrap_or(&self.play), [&self.vars, &finalizer.vars]);
        info!("{play} runs: {}", finalizer.name);
        let ran = self.run(play, &vars, &object, &json, &settings, &record, &ctx).await?;
        let (result, _) = ran.ok_or_else(stopped)?;
        result.map_err(|why| Error::new("FinalizerFailed", why))?;
        ctx.ansible.dependents.forget(&uid);
        self.records().remove(&uid);
        Ok(())
    }

    /// The folder for the files of the controller's runs.
    fn folder(&self, ctx: &Context) -> Result<PathBuf> {
        let folder = ctx.ansible.runs()?.join(self.controller_name()).join(ctx.namespace().unwrap_or("-"));
        crate::processes::make_folder(&folder)?;
        Ok(folder)
    }

    /// Drops the state of deleted objects, and removes the files of their runs.
    fn forget_the_gone(&self, ctx: &Context) {
        let objects = ctx.objects::<Untyped<K>>();
        let uids: HashSet<&str> = objects.iter().filter_map(|object| object.metadata.uid.as_deref()).collect();
        self.records().retain(|uid, record| {
            let is_left = record.scope.as_deref() != ctx.namespace() || uids.contains(uid.as_str());
            if !is_left {
                ctx.ansible.dependents.forget(uid);
            }
            is_left
        });
        let entries = self.folder(ctx).ok().and_then(|folder| std::fs::read_dir(folder).ok());
        for entry in entries.into_iter().flatten().flatten() {
            if !uids.contains(&*entry.file_name().to_string_lossy())
                && let Err(error) = std::fs::remove_dir_all(entry.path())
            {
                warn!("files of runs are left: {error}");
            }
        }
    }

    fn records(&self) -> MutexGuard<'_, HashMap<String, Record>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// No reconcile is necessary until something changes.
fn nothing() -> Outcome {
    Outcome::unchanged().requeue_after(Duration::from_secs(3600))
}

fn requeued(outcome: Outcome, next: Option<Duration>, ctx: &Context) -> Outcome {
    match next.filter(|next| *next < Duration::from_secs(ctx.options.requeue_interval)) {
        Some(next) => outcome.requeue_after(jittered(next) + Duration::from_millis(100)),
        None => outcome,
    }
}

fn joined(texts: BTreeSet<String>) -> String {
    Vec::from_iter(texts).join("; ")
}

/// A time in seconds, in the format of Kubernetes.
fn shown(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

impl<K> fmt::Debug for AnsibleController<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnsibleController").field("play", &self.play).finish_non_exhaustive()
    }
}

fn map(vars: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(vars) {
        Ok(Value::Object(vars)) => vars,
        _ => panic!("variables are a map with strings as keys, such as `json!({{ \"state\": \"present\" }})`"),
    }
}
