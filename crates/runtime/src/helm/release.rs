//! A release: decides from its last record and the desired inputs which action is necessary.

use std::sync::PoisonError;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use kube::runtime::events::EventType;
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde_json::{Value, json};
use tracing::{info, warn};

use super::annotations::RETRY;
use super::chart::Chart;
use super::history::{Contents, History, Record};
use super::manifest::{Object, objects};
use super::objects::{Owner, Synced, remove, restore, sync};
use super::process::Failure;
use super::status::ReleaseInfo;
use crate::apply::write_status;
use crate::conditions::{Status, condition, not_ready};
use crate::controller::{Readiness, jittered, ready_of};
use crate::digest::{canonical, digest};
use crate::{Context, Error, Outcome, Result, brief, names};
use kube::api::ApiResource;

/// The name of a release, and the namespace of its records.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Id {
    pub namespace: String,
    pub name: String,
}

/// A release of a chart that belongs to an object: [`apply`](Self::apply) installs and upgrades it,
/// [`uninstall`](Self::uninstall) removes it. The [module](super) has an example, and describes the lifecycle of a
/// release.
// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get;list;create;update;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create
#[derive(Clone, Debug)]
pub struct Release {
    chart: String,
    name: Option<String>,
    values: Value,
    pub(super) settings: Settings,
}

/// The action on drift: objects of a release that others have changed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Drift {
    /// Correct it, and report it in an event.
    #[default]
    Correct,
    /// Report it in an event.
    Report,
    /// Ignore it.
    Ignore,
}

/// The action after a failed upgrade.
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=get;list;watch
// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;list;watch
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OnFailure {
    /// Keep the objects.
    #[default]
    Keep,
    /// Wait until the objects are ready, and after a timeout roll an upgrade back, or remove a first release. Helm
    /// needs the verbs `get`, `list` and `watch` on Pods and ReplicaSets for it.
    RollBack,
}

/// The settings of a release.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub timeout: Duration,
    pub history: u32,
    pub attempts: u32,
    pub on_failure: OnFailure,
    pub takes_ownership: bool,
    pub drift: Drift,
    ignored: Vec<(String, String)>,
    pub force_replace: bool,
    pub no_hooks: bool,
    pub no_uninstall_hooks: bool,
    pub description: Option<String>,
    /// The value of the annotation that requests another attempt.
    pub retry: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(300),
            history: 10,
            attempts: 5,
            on_failure: OnFailure::default(),
            takes_ownership: false,
            drift: Drift::default(),
            ignored: Vec::new(),
            force_replace: false,
            no_hooks: false,
            no_uninstall_hooks: false,
            description: None,
            retry: None,
        }
    }
}

impl Settings {
    pub fn ignore(&mut self, kind: &str, place: &str) {
        self.ignored.push((kind.to_owned(), place.to_owned()));
    }

    /// The fields of an object that others manage: configured ones, and `replicas` of an autoscaler's target.
    pub fn ignored(&self, object: &Object, scaled: &[Object]) -> Vec<&str> {
        let ignored = self.ignored.iter().filter(|(kind, _)| *kind == object.gvk.kind).map(|(_, place)| place.as_str());
        let replicas = scaled.iter().any(|other| other.is(object)).then_some("/spec/replicas");
        ignored.chain(replicas).collect()
    }
}

/// Failed attempts with the same inputs.
#[derive(Clone, Debug)]
pub(super) struct Failures {
    inputs: String,
    count: u32,
    last: Timestamp,
    message: String,
}

/// The state of a release.
#[derive(Clone, Debug)]
pub struct Released {
    conditions: Vec<Condition>,
    info: Option<ReleaseInfo>,
    is_failed: bool,
    requeue: Option<Duration>,
}

impl Released {
    /// `true` if the objects of the release are ready and match its manifest.
    pub fn is_ready(&self) -> bool {
        self.conditions.first().is_some_and(|ready| ready.status == "True")
    }

    /// `Ready`, `Deployed`, and, after too many failures, `Stalled`.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The last release; `None` before the first one.
    pub fn info(&self) -> Option<&ReleaseInfo> {
        self.info.as_ref()
    }

    /// The outcome of a reconcile that only handles this release, for a kind with a
    /// [`ReleaseStatus`](super::ReleaseStatus).
    pub fn outcome(self) -> Outcome {
        let ready = self.conditions[0].clone();
        let outcome = match self.is_failed {
            true => Outcome::failed(&ready.reason, ready.message),
            false => ready.into(),
        };
        // `Deployed` gets no event: a deployed revision has its own, and a failure is in that of `Ready`.
        let outcome = self.conditions.into_iter().skip(1).fold(outcome.silent("Deployed"), Outcome::condition);
        let outcome = outcome.status(json!({ "release": self.info }));
        self.requeue.into_iter().fold(outcome, Outcome::requeue_after)
    }
}

impl Release {
    /// A release of the chart in this folder below `--helm-charts`. Its default name is `<name of the owner>-<chart>`.
    pub fn new(chart: impl Into<String>) -> Self {
        Self { chart: chart.into(), name: None, values: Value::Null, settings: Settings::default() }
    }

    /// Sets the name. A name of more than 53 characters is truncated, and ends in a hash of the whole name.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Sets the values that override the chart's defaults, like `helm --values`. A null removes a default.
    ///
    /// # Panics
    ///
    /// If they cannot be serialized as JSON, such as a map with keys that are not strings.
    #[must_use]
    pub fn values(self, values: impl Serialize) -> Self {
        Self { values: serde_json::to_value(values).expect("values are JSON"), ..self }
    }

    /// Sets the timeout of hooks, and with [`OnFailure::RollBack`] the time for objects to become ready. The default is
    /// 5 minutes.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// Sets the action after a failed upgrade. The default is [`OnFailure::Keep`].
    #[must_use]
    pub fn on_failure(mut self, action: OnFailure) -> Self {
        self.settings.on_failure = action;
        self
    }

    /// Takes over existing objects that helm does not manage. By default, they are an error.
    #[must_use]
    pub fn takes_ownership(mut self) -> Self {
        self.settings.takes_ownership = true;
        self
    }

    /// Sets the number of attempts with the same chart and values until the release is `Stalled`. The default is 5.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.settings.attempts = attempts.max(1);
        self.settings.history = self.settings.history.max(attempts.saturating_mul(2));
        self
    }

    /// Sets the action on drift. The default is [`Drift::Correct`].
    #[must_use]
    pub fn drift(mut self, drift: Drift) -> Self {
        self.settings.drift = drift;
        self
    }

    /// Excludes a field of all objects of a kind from drift correction: a JSON pointer, such as `/spec/replicas` of a
    /// `Deployment`. The replicas of a HorizontalPodAutoscaler's target in the release are always excluded. An upgrade
    /// sets the field again.
    #[must_use]
    pub fn ignore(mut self, kind: &str, place: &str) -> Self {
        self.settings.ignore(kind, place);
        self
    }

    /// Installs or upgrades the release if its chart or values differ from the deployed ones, applies the manifest to
    /// its objects, and returns their state.
    ///
    /// # Errors
    ///
    /// If a request fails, the chart cannot be read, or the release belongs to someone else. A failure of helm is not
    /// an error: it is in the conditions, and the outcome schedules the next attempt.
    pub async fn apply<K: Resource<DynamicType = ()>>(&self, owner: &K, ctx: &Context) -> Result<Released> {
        let chart = ctx.helm.chart(&self.chart)?;
        let release = Applying {
            id: self.id(owner, ctx),
            values: if self.values.is_null() { json!({}) } else { self.values.clone() },
            inputs: self.inputs(&chart),
            owner: Owner::of(owner)?,
            chart: &chart,
            release: self,
            ctx,
        };
        release.apply(owner).await
    }

    /// Uninstalls the release, and checks that its objects are deleted, except for those with the policy `keep`. Until
    /// then, it returns an error with the remaining objects. Call it in a finalizer, until it succeeds.
    ///
    /// # Errors
    ///
    /// If a request or helm fails, or objects remain.
    pub async fn uninstall<K: Resource<DynamicType = ()>>(&self, owner: &K, ctx: &Context) -> Result<()> {
        let (id, key) = (self.id(owner, ctx), Owner::of(owner)?);
        let history = History::read(&ctx.client, &id).await?;
        let last = match history.last() {
            Some(last) if !last.is_foreign(&key, &ctx.helm.chart(&self.chart)?.name, &ctx.client, &id).await? => last,
            _ => return Ok(()),
        };
        let mut left: Vec<Object> = Vec::new();
        for record in history.since_deployed() {
            let (contents, _) = record.contents(&ctx.client, &id).await?;
            left.extend(objects(contents.manifest(), &id)?);
        }
        if last.status != "uninstalled" {
            restore(&left, &id, &key, ctx).await?;
            let mut arguments =
                ["uninstall", &id.name, "--ignore-not-found", "--keep-history"].map(str::to_owned).to_vec();
            arguments.push(format!("--timeout={}s", self.settings.timeout.as_secs()));
            arguments.extend(self.settings.no_uninstall_hooks.then(|| "--no-hooks".to_owned()));
            match ctx.helm.run(ctx, &id, arguments, String::new(), self.settings.timeout).await {
                Ok(()) => info!("release {} uninstalled", id.name),
                Err(Failure::Busy) => return Err(Error::new("Waiting", BUSY)),
                Err(Failure::Killed) => return Err(Error::new("HelmKilled", KILLED)),
                Err(Failure::Failed(why)) => return Err(Error::new("UninstallError", why)),
            }
        }
        let left = remove(&left, &id, &key, ctx).await?;
        if !left.is_empty() {
            return Err(Error::new("Uninstalling", format!("waiting until these are deleted: {}", left.join("; "))));
        }
        // Last, since a retry reads the remaining objects from the records, which `--keep-history` keeps.
        for record in history.records() {
            record.delete(&ctx.client, &id).await?;
        }
        ctx.helm.dependents.forget(&id);
        ctx.helm.drifts.report(&id, "");
        Ok(())
    }

    fn id(&self, owner: &impl ResourceExt, ctx: &Context) -> Id {
        let name = self.name.clone().unwrap_or_else(|| format!("{}-{}", owner.name_any(), self.chart));
        let namespace = owner.namespace().unwrap_or_else(|| ctx.client.default_namespace().to_owned());
        Id { namespace, name: names::release_name(&name) }
    }

    /// A digest of all inputs of a release. A different digest requires an upgrade.
    fn inputs(&self, chart: &Chart) -> String {
        let Settings { no_hooks, force_replace, takes_ownership, retry, .. } = &self.settings;
        let settings = json!([no_hooks, force_replace, takes_ownership, retry]).to_string();
        digest([&chart.digest, &canonical(&self.values), &settings])
    }
}

const BUSY: &str = "another helm works on this release: an earlier process of the operator started it";

const KILLED: &str = "helm was killed, by a signal or for want of memory";

/// The state of an [`apply`](Release::apply).
struct Applying<'a> {
    id: Id,
    values: Value,
    inputs: String,
    owner: Owner,
    chart: &'a Chart,
    release: &'a Release,
    ctx: &'a Context,
}

/// The action that the last record requires.
enum Step {
    Sync,
    Upgrade,
}

impl Applying<'_> {
    async fn apply<K: Resource<DynamicType = ()>>(&self, owner: &K) -> Result<Released> {
        let Self { ctx, id, .. } = self;
        let mut history = History::read(&ctx.client, id).await?;
        if let Some(last) = history.last() {
            self.refuse_foreign(last).await?;
            if last.is_pending() || last.status == "uninstalling" || last.status == "uninstalled" {
                // The record is pending or the uninstall is incomplete. If no helm works on it, its process was killed
                // and will not update the record.
                if !ctx.helm.is_free(id).await? {
                    return Ok(self.waits(None, "Waiting", BUSY, Duration::from_secs(5)));
                }
                let age = Timestamp::now().duration_since(last.modified).unsigned_abs();
                if last.is_pending() && last.owner.is_none() && age < self.release.settings.timeout {
                    let message = format!("revision {} is {}: somebody else works on it", last.revision, last.status);
                    return Ok(self.waits(None, "Waiting", &message, Duration::from_secs(30)));
                }
                match last.is_pending() {
                    true => {
                        warn!(
                            "release {}: revision {} is {}, and no helm works on it",
                            id.name, last.revision, last.status
                        );
                        last.fail(&ctx.client, id).await?;
                        let note = format!(
                            "revision {} was {}, and is failed now: helm was killed",
                            last.revision, last.status
                        );
                        ctx.event(owner, EventType::Warning, "ReleaseUnlocked", note).await;
                    }
                    false => self.release.uninstall(owner, ctx).await?,
                }
                history = History::read(&ctx.client, id).await?;
            }
        }
        ctx.helm.dependents.track(id, owner, ctx);
        let step = match history.last() {
            Some(last) if last.status == "deployed" => match &last.inputs {
                Some(inputs) if *inputs == self.inputs => Step::Sync,
                None if self.adopts(last).await? => Step::Sync,
                _ => Step::Upgrade,
            },
            _ => Step::Upgrade,
        };
        match step {
            Step::Sync => self.sync(owner, &history).await,
            Step::Upgrade => match self.fails(&history) {
                Some(failed) => self.rests(&history, failed).await,
                None => self.upgrade(owner, &history).await,
            },
        }
    }

    /// Returns an error if a release of this name belongs to another object.
    async fn refuse_foreign(&self, last: &Record) -> Result<()> {
        let Self { id, ctx, .. } = self;
        if !last.is_foreign(&self.owner, &self.chart.name, &ctx.client, id).await? {
            return Ok(());
        }
        let (contents, _) = last.contents(&ctx.client, id).await?;
        let of = contents.of_chart("name").unwrap_or_default();
        let why = contents.info("description").unwrap_or_default();
        let message = format!(
            "there is a release `{}` in the namespace `{}` already, of the chart `{of}` (\"{why}\"): give this object another name",
            id.name, id.namespace
        );
        Err(Error::new("ReleaseNameTaken", message))
    }

    /// `true` if a release of someone else has this chart and these values. Then its record is labelled, and nothing
    /// else is necessary.
    async fn adopts(&self, last: &Record) -> Result<bool> {
        let Self { ctx, id, chart, .. } = self;
        let (contents, secret) = last.contents(&ctx.client, id).await?;
        let given = match contents.values() {
            Value::Null => json!({}),
            values => values.clone(),
        };
        if canonical(&given) != canonical(&self.values) || !is_chart(&contents, chart) {
            return Ok(false);
        }
        last.adopt(&ctx.client, id, secret, &self.inputs, &self.owner.key).await?;
        info!("release {}: revision {} is adopted", id.name, last.revision);
        Ok(true)
    }

    /// The failures of these inputs: recorded ones, and those without a record.
    fn fails(&self, history: &History) -> Option<Failures> {
        let mut all = self.ctx.helm.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if all.get(&self.id).is_some_and(|failures| failures.inputs != self.inputs) {
            all.remove(&self.id);
        }
        let remembered = all.get(&self.id).cloned();
        let (count, last) = history.failures(&self.inputs);
        match (remembered, last) {
            (Some(failures), _) => Some(Failures { count: failures.count.max(count), ..failures }),
            (None, Some(last)) => Some(Failures { inputs: self.inputs.clone(), count, last, message: String::new() }),
            (None, None) => None,
        }
        .filter(|failures| {
            let due = Timestamp::now().duration_since(failures.last).unsigned_abs() >= pause(failures.count);
            failures.count >= self.release.settings.attempts || !due
        })
    }

    /// Waits for the next attempt, or for user intervention.
    async fn rests(&self, history: &History, mut failures: Failures) -> Result<Released> {
        let last = history.last();
        let contents = match last {
            Some(last) => Some(last.contents(&self.ctx.client, &self.id).await?.0),
            None => None,
        };
        if failures.message.is_empty() {
            failures.message = contents.as_ref().and_then(|it| it.info("description")).unwrap_or_default();
        }
        Ok(self.failed(history, last.zip(contents.as_ref()), &failures))
    }

    async fn upgrade<K: Resource<DynamicType = ()>>(&self, owner: &K, history: &History) -> Result<Released> {
        let Self { ctx, id, .. } = self;
        let (doing, done) = match history.deployed() {
            None => ("Installing", "Installed"),
            Some(_) => ("Upgrading", "Upgraded"),
        };
        let timeout = self.release.settings.timeout;
        let message = format!(
            "helm {} {} {}, with a timeout of {} s",
            doing.to_lowercase(),
            self.chart.name,
            self.chart.version,
            timeout.as_secs()
        );
        self.progress(owner, Some((doing, &message))).await?;
        let arguments = self.arguments();
        let run = ctx.helm.run(ctx, id, arguments, self.values.to_string(), timeout).await;
        let history = History::read(&ctx.client, id).await?;
        match run {
            Ok(()) => {
                self.failures_end();
                let revision = history.last().map_or(0, |record| record.revision);
                let note =
                    format!("revision {revision} of the chart {} {} is deployed", self.chart.name, self.chart.version);
                info!("release {}: {note}", id.name);
                ctx.event(owner, EventType::Normal, done, note).await;
                let synced = self.sync(owner, &history).await;
                self.progress(owner, None).await?;
                synced
            }
            Err(Failure::Busy) => Ok(self.waits(None, "Waiting", BUSY, Duration::from_secs(5))),
            Err(Failure::Killed) => Err(Error::new("HelmKilled", KILLED)),
            Err(Failure::Failed(why)) => {
                // If the API server is not available, the failure is not counted.
                ctx.client.apiserver_version().await?;
                warn!("release {}: {why}", id.name);
                let failures = self.failure(&history, why);
                let released = self.rests(&history, failures).await;
                self.progress(owner, None).await?;
                released
            }
        }
    }

    fn arguments(&self) -> Vec<String> {
        let Self { id, inputs, owner, release, .. } = self;
        let settings = &release.settings;
        let mut arguments = vec!["upgrade".to_owned(), id.name.clone()];
        arguments.push(self.ctx.helm.folder(&release.chart).display().to_string());
        arguments.extend(["--install", "--values=-", "--reset-values", "--server-side=true"].map(str::to_owned));
        arguments.push(if settings.force_replace { "--force-replace" } else { "--force-conflicts" }.to_owned());
        arguments.push(format!("--history-max={}", settings.history));
        arguments.push(format!("--timeout={}s", settings.timeout.as_secs()));
        arguments.push(format!("--labels={}={inputs},{}={}", super::history::INPUTS, super::history::OWNER, owner.key));
        let description = settings.description.clone().unwrap_or_else(|| format!("for {}", owner.shown));
        arguments.push(format!("--description={description}"));
        let flags = [
            ("--rollback-on-failure", settings.on_failure == OnFailure::RollBack),
            ("--take-ownership", settings.takes_ownership),
            ("--no-hooks", settings.no_hooks),
        ];
        arguments.extend(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag.to_owned()));
        if settings.force_replace {
            // Helm replaces objects in this case, which is not possible with a server-side apply.
            arguments.retain(|argument| argument != "--server-side=true");
            arguments.push("--server-side=false".to_owned());
        }
        arguments
    }

    /// Applies the manifest to the existing objects.
    async fn sync<K: Resource<DynamicType = ()>>(&self, owner: &K, history: &History) -> Result<Released> {
        let Self { ctx, id, .. } = self;
        let Some(last) = history.last() else {
            return Err(Error::new("InvalidRecord", format!("helm has left no record of the release `{}`", id.name)));
        };
        let (contents, _) = last.contents(&ctx.client, id).await?;
        let wanted = objects(contents.manifest(), id)?;
        for failed in history.failed_before_last() {
            let (contents, _) = failed.contents(&ctx.client, id).await?;
            let mut left = objects(contents.manifest(), id)?;
            left.retain(|object| !wanted.iter().any(|wanted| wanted.is(object)));
            remove(&left, id, &self.owner, ctx).await?;
        }
        let Synced { readiness, drifted, resources } =
            sync(&wanted, id, &self.owner, &self.release.settings, ctx).await?;
        for (resource, namespace) in resources {
            let watched = ctx.namespace().filter(|watched| namespace.as_deref() == Some(*watched));
            ctx.helm.dependents.watch(&resource, watched, ctx);
        }
        let (drifted, is_reported) = (drifted.join("; "), self.release.settings.drift == Drift::Report);
        // Every reconcile finds uncorrected drift again, so it is only reported if it changed.
        let is_news = !is_reported || ctx.helm.drifts.report(id, &drifted);
        if !drifted.is_empty() && is_news {
            let (type_, reason) = match is_reported {
                true => (EventType::Warning, "Drifted"),
                false => (EventType::Normal, "DriftCorrected"),
            };
            info!("release {}: {reason}: {drifted}", id.name);
            ctx.event(owner, type_, reason, drifted).await;
        }
        let ready = ready_of(&readiness, "all objects of the release are ready");
        let is_pending = readiness.iter().any(|(_, it)| *it == Readiness::Unobserved);
        Ok(Released {
            is_failed: ready.reason == "Failed",
            conditions: vec![ready, deployed(last.revision)],
            info: Some(self.info(last, &contents)),
            // Controllers of the objects have not updated their status yet. A watch reports the change; the requeue
            // covers missing permission to watch.
            requeue: is_pending.then(|| Duration::from_secs(5)),
        })
    }

    fn failure(&self, history: &History, message: String) -> Failures {
        let (recorded, _) = history.failures(&self.inputs);
        let mut all = self.ctx.helm.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let before = all.get(&self.id).filter(|failures| failures.inputs == self.inputs).map_or(0, |it| it.count);
        let count = (before + 1).max(recorded);
        let failures = Failures { inputs: self.inputs.clone(), count, last: Timestamp::now(), message };
        all.insert(self.id.clone(), failures.clone());
        failures
    }

    fn failures_end(&self) {
        self.ctx.helm.failures.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }

    fn failed(&self, history: &History, last: Option<(&Record, &Contents)>, failures: &Failures) -> Released {
        let Failures { count, message, last: at, .. } = failures;
        let attempts = self.release.settings.attempts;
        let is_stalled = *count >= attempts;
        let since = Timestamp::now().duration_since(*at).unsigned_abs();
        let mut conditions = match history.deployed() {
            Some(record) => vec![not_ready("UpgradeError", message.as_str()), deployed(record.revision)],
            None => {
                let missing = condition("Deployed", Status::False, "InstallError", "no revision is deployed");
                vec![not_ready("InstallError", message.as_str()), missing]
            }
        };
        if is_stalled {
            let why = format!(
                "{count} tries failed; it is tried again when the chart or the values change, or the annotation `{RETRY}`"
            );
            conditions.push(condition("Stalled", Status::True, "RetriesExceeded", why));
        }
        Released {
            conditions,
            info: last.map(|(record, contents)| self.info(record, contents)),
            is_failed: true,
            requeue: (!is_stalled).then(|| jittered(pause(*count).saturating_sub(since)) + Duration::from_millis(100)),
        }
    }

    fn waits(&self, info: Option<ReleaseInfo>, reason: &str, message: &str, time: Duration) -> Released {
        Released { conditions: vec![not_ready(reason, message)], info, is_failed: false, requeue: Some(time) }
    }

    fn info(&self, record: &Record, contents: &Contents) -> ReleaseInfo {
        ReleaseInfo {
            name: self.id.name.clone(),
            revision: record.revision.cast_signed(),
            chart: contents.of_chart("name"),
            chart_version: contents.of_chart("version"),
            app_version: contents.of_chart("appVersion"),
            status: record.status.clone(),
            inputs: record.inputs.clone().or_else(|| Some(self.inputs.clone())),
            last_deployed: contents.info("last_deployed"),
        }
    }

    /// Sets a condition in the status while an action is in progress, and removes it for `None`. A separate field
    /// manager keeps the rest of the status.
    async fn progress<K: Resource<DynamicType = ()>>(&self, owner: &K, doing: Option<(&str, &str)>) -> Result<()> {
        let conditions: Vec<_> = doing
            .map(|(reason, message)| condition("Reconciling", Status::True, reason, message))
            .map(|condition| Condition { observed_generation: owner.meta().generation, ..condition })
            .into_iter()
            .collect();
        let (manager, resource) =
            (names::field_manager(&self.ctx.field_manager, "progress"), ApiResource::erase::<K>(&()));
        let status = json!({ "conditions": conditions });
        write_status(&manager, &self.ctx.client, &resource, owner.namespace().as_deref(), &owner.name_any(), &status)
            .await
            .map(drop)
            .map_err(|error| Error::new("RequestFailed", brief(&error)))
    }
}

fn deployed(revision: u64) -> Condition {
    let reason = if revision == 1 { "InstallSuccessful" } else { "UpgradeSuccessful" };
    condition("Deployed", Status::True, reason, format!("revision {revision} is deployed"))
}

/// The delay after this number of failures: 10 seconds, doubled each time, up to 10 minutes.
fn pause(failures: u32) -> Duration {
    let doubled = Duration::from_secs(10).saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
    doubled.min(Duration::from_secs(600))
}

/// `true` if a record has this chart: the same version, templates and default values.
fn is_chart(contents: &Contents, chart: &Chart) -> bool {
    use base64::Engine;
    let recorded = contents.chart();
    let templates = recorded["templates"].as_array().map_or(&[][..], Vec::as_slice);
    let is_same = |template: &Value| {
        let data =
            template["data"].as_str().and_then(|data| base64::engine::general_purpose::STANDARD.decode(data).ok());
        let (Some(name), Some(data)) = (template["name"].as_str(), data) else { return false };
        chart.templates.iter().any(|(path, text)| path == name && *text == data)
    };
    let values = match &recorded["values"] {
        Value::Null => &json!({}),
        values => values,
    };
    let own = if chart.values.is_null() { &json!({}) } else { &chart.values };
    contents.of_chart("name").as_ref() == Some(&chart.name)
        && contents.of_chart("version").as_ref() == Some(&chart.version)
        && templates.iter().all(is_same)
        && canonical(values) == canonical(own)
}
