//! What a reconcile returns, and how it becomes the status of the object.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::ApiResource;
use kube::runtime::controller::Action;
use kube::runtime::events::EventType;
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tracing::{debug, info};

use crate::apply::write_status;
use crate::conditions::{self, READY};
use crate::{Context, Error, names};

/// The result of a reconcile: the conditions and other fields of the object's status, and when to reconcile again.
///
/// The status is written by server-side apply if it differs from what the object has; `observedGeneration` is added where the type of
/// the status has it. A condition that changes its status or reason is published as an event, of type Normal unless the outcome
/// [failed](Self::failed). That an object is not ready when it is first reconciled is not published.
///
/// After an error, only the condition changes. This needs a list of conditions with `x-kubernetes-list-type: map` in the CRD, as `opctl
/// create api` makes it; other lists are replaced as a whole. For a kind whose status belongs to others, such as Pods, `reconcile`
/// returns an [`Action`].
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize)]
/// # struct MemcachedStatus { replicas: i32 }
/// use std::time::Duration;
///
/// use opctl_runtime::Outcome;
///
/// let outcome = Outcome::ready("Available", "3 of 3 replicas are available")
///     .status(MemcachedStatus { replicas: 3 })
///     .requeue_after(Duration::from_secs(60));
/// assert_eq!(outcome.conditions()[0].type_, "Ready");
/// ```
#[derive(Debug)]
pub struct Outcome {
    conditions: Vec<Condition>,
    status: Option<Result<Value, serde_json::Error>>,
    /// Whether the status is written at all.
    writes: bool,
    /// Of events about conditions that are not `True`.
    event: EventType,
    /// The types of conditions that no events are about.
    silent: Vec<&'static str>,
    action: Option<Action>,
}

impl Outcome {
    fn new(conditions: Vec<Condition>, writes: bool) -> Self {
        Self { conditions, status: None, writes, event: EventType::Normal, silent: Vec::new(), action: None }
    }

    /// The object is what its spec asks for: the condition `Ready` is `True`.
    pub fn ready(reason: &str, message: impl Into<String>) -> Self {
        conditions::ready(reason, message).into()
    }

    /// The object is not what its spec asks for yet: the condition `Ready` is `False`.
    pub fn not_ready(reason: &str, message: impl Into<String>) -> Self {
        conditions::not_ready(reason, message).into()
    }

    /// The object will not be what its spec asks for unless someone intervenes: the condition `Ready` is `False`, and the event is a
    /// Warning. Unlike after an [`Error`], there is no early retry.
    pub fn failed(reason: &str, message: impl Into<String>) -> Self {
        Self { event: EventType::Warning, ..Self::not_ready(reason, message) }
    }

    /// The status stays as it is, for now. A controller that never writes one returns an [`Action`] or `()`, and needs no permission
    /// for it.
    pub fn unchanged() -> Self {
        Self::new(Vec::new(), false)
    }

    /// Adds a condition. One with the same type is replaced.
    #[must_use]
    pub fn condition(mut self, condition: Condition) -> Self {
        self.conditions.retain(|other| other.type_ != condition.type_);
        self.conditions.push(condition);
        self
    }

    /// Publishes no events about the condition of this type: others report what it is about.
    #[cfg(feature = "helm")]
    pub(crate) fn silent(mut self, type_: &'static str) -> Self {
        self.silent.push(type_);
        self
    }

    /// Sets the fields of the status; an [unchanged](Self::unchanged) outcome ignores them. `observedGeneration` and the conditions of
    /// the outcome are added. Fields that an earlier outcome had and this one has not are removed.
    #[must_use]
    pub fn status(mut self, status: impl Serialize) -> Self {
        self.status = Some(serde_json::to_value(status));
        self
    }

    /// Reconciles the object again after this time, even if nothing changes, instead of after `--requeue-interval`.
    #[must_use]
    pub fn requeue_after(mut self, time: Duration) -> Self {
        self.action = Some(Action::requeue(time));
        self
    }

    /// The conditions so far.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The fields of the status, as JSON; `null` if there are none.
    pub fn status_fields(&self) -> &Value {
        match &self.status {
            Some(Ok(status)) => status,
            _ => &Value::Null,
        }
    }

    /// When the object is reconciled again; `None` is after `--requeue-interval`.
    pub fn action(&self) -> Option<&Action> {
        self.action.as_ref()
    }

    /// Whether the status of the object stays as it is.
    pub fn is_unchanged(&self) -> bool {
        !self.writes
    }
}

impl From<Condition> for Outcome {
    fn from(condition: Condition) -> Self {
        Self::new(vec![condition], true)
    }
}

/// What a `reconcile` may return.
pub trait IntoOutcome {
    /// Whether it writes the status of the object, for which the controller needs the verb `patch` on it.
    const WRITES: bool;

    /// The outcome that it means.
    fn into_outcome(self) -> Outcome;
}

impl IntoOutcome for Outcome {
    const WRITES: bool = true;

    fn into_outcome(self) -> Outcome {
        self
    }
}

impl IntoOutcome for Condition {
    const WRITES: bool = true;

    fn into_outcome(self) -> Outcome {
        self.into()
    }
}

impl IntoOutcome for Action {
    const WRITES: bool = false;

    fn into_outcome(self) -> Outcome {
        Outcome { action: Some(self), ..Outcome::unchanged() }
    }
}

impl IntoOutcome for () {
    const WRITES: bool = false;

    fn into_outcome(self) -> Outcome {
        Outcome::unchanged()
    }
}

/// How a controller writes the status of its objects.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    /// The type of the condition that sums up this controller: `Ready`, or that of a second controller of the kind, which leaves
    /// everything else in the status to the first one.
    pub condition: &'static str,
    /// Whether it writes anything: not for a `reconcile` that returns an `Action`.
    pub writes: bool,
    /// What was written last, by a hash of the object's uid.
    written: Arc<Mutex<HashMap<u64, Written>>>,
}

/// What was written into the status of an object.
#[derive(Debug)]
struct Written {
    /// A hash of the last status after a success.
    status: Option<u64>,
    /// The status of the condition that sums up the controller.
    ready: &'static str,
    /// When a failure was written last.
    failure: Option<Instant>,
    /// The object after the last write, until a watch brings it.
    unseen: Option<Unseen>,
}

/// A status that was written, and that the watch has not brought yet: reconciles until then get an older object, which may be newer than
/// the one that the writing reconcile had.
#[derive(Debug)]
struct Unseen {
    /// The resourceVersion of the object after the write. Those of one kind can be compared.
    version: u64,
    /// As JSON, which takes far less memory than a [`Value`].
    status: Box<str>,
    at: Instant,
}

impl Unseen {
    /// `object` is the answer to the write.
    fn new(object: &Value) -> Option<Self> {
        let version = text(&object["metadata"], "resourceVersion").parse().ok()?;
        Some(Self { version, status: object["status"].to_string().into(), at: Instant::now() })
    }

    /// Is the object of this resourceVersion older than the write? An older one that is all that a watch brings for a minute is not: the
    /// API server's storage was restored from a backup.
    fn is_newer_than(&self, version: Option<&str>) -> bool {
        const LATE: Duration = Duration::from_secs(60);
        let version = version.and_then(|version| version.parse::<u64>().ok());
        version.is_some_and(|version| version < self.version) && self.at.elapsed() < LATE
    }
}

impl Default for Written {
    fn default() -> Self {
        Self { status: None, ready: UNKNOWN, failure: None, unseen: None }
    }
}

/// The status of a condition that was not written yet.
const UNKNOWN: &str = "Unknown";

/// What is to be written.
struct Write {
    conditions: Vec<Condition>,
    /// An object, or null.
    status: Value,
    /// Of conditions that are not `True`.
    event: EventType,
    /// The types of conditions that no events are about.
    silent: Vec<&'static str>,
    /// Whether the reconcile failed: then the rest of the status stays.
    is_failure: bool,
}

impl Writer {
    pub fn new(condition: &'static str, writes: bool) -> Self {
        Self { condition, writes, written: Arc::default() }
    }

    /// Writes the status after a reconcile. After a failure, that is the condition alone: the rest stays.
    pub async fn settle<K>(&self, object: &K, result: Result<Outcome, Error>, ctx: &Context) -> Result<Action, Error>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Serialize,
    {
        match result {
            Ok(Outcome { conditions, status, writes, event, silent, action }) => {
                if writes {
                    let status = status.transpose()?.unwrap_or_default();
                    let write = Write { conditions, status, event, silent, is_failure: false };
                    self.write(object, write, ctx).await?;
                }
                Ok(action.unwrap_or_else(|| ctx.requeue()))
            }
            Err(error) => {
                if self.writes {
                    let conditions = vec![conditions::not_ready(error.reason(), error.to_string())];
                    let (status, event) = (Value::Null, EventType::Warning);
                    let write = Write { conditions, status, event, silent: Vec::new(), is_failure: true };
                    if let Err(second) = self.write(object, write, ctx).await {
                        debug!("failure not written into the status: {second}");
                    }
                }
                Err(error)
            }
        }
    }

    /// The number of these objects by the status of the condition that sums up this controller.
    pub fn count<'a, K: Resource + 'a>(&self, objects: impl Iterator<Item = &'a K>) -> BTreeMap<&'static str, u32> {
        let mut counts = BTreeMap::from([("True", 0), ("False", 0), (UNKNOWN, 0)]);
        let written = self.written();
        for object in objects {
            let ready = written.get(&hash(&object.meta().uid)).map_or(UNKNOWN, |written| written.ready);
            *counts.entry(ready).or_default() += 1;
        }
        counts
    }

    async fn write<K>(&self, object: &K, write: Write, ctx: &Context) -> Result<(), Error>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Serialize,
    {
        let mut json = serde_json::to_value(object)?;
        let (uid, mut before) = (hash(&object.meta().uid), json["status"].take());
        if let Some(unseen) = self.unseen(uid, object.meta().resource_version.as_deref()) {
            before = unseen;
        }
        let known = list(&before["conditions"]);
        let is_main = self.condition == READY;

        let mut status = match write.status {
            Value::Object(status) => status,
            _ => Map::new(),
        };
        let given = status.remove("conditions").unwrap_or_default();
        let mut all: Vec<Value> = Vec::new();
        for mut condition in write.conditions.iter().map(|it| json!(it)).chain(list(&given).iter().cloned()) {
            if condition["type"] == READY {
                condition["type"] = self.condition.into();
            }
            if all.iter().all(|other| other["type"] != condition["type"]) {
                dated(known, &mut condition, object.meta().generation);
                all.push(condition);
            }
        }
        let ready = match of_type(&all, self.condition)["status"].as_str() {
            Some("True") => "True",
            Some("False") => "False",
            _ => UNKNOWN,
        };
        self.remember(uid, |written| written.ready = ready);
        status.insert("conditions".to_owned(), all.into());
        if is_main {
            status.insert("observedGeneration".to_owned(), object.meta().generation.into());
        }
        let Fitted { status, whole } = fitted::<K>(json, &before, status, is_main && !write.is_failure);
        if status.is_empty() {
            return Ok(());
        }
        // By a field manager of its own, a failure leaves the fields that the other one applied.
        let manager = match write.is_failure {
            true => names::field_manager(&ctx.field_manager, "failure"),
            false => ctx.field_manager.to_string(),
        };
        let hash = hash(&Value::from(status.clone()).to_string());
        let is_written = match write.is_failure {
            true => self.is_failure_written(uid, &before, &status),
            false => contains(&before, &status) && self.is_all(uid, hash, || is_main && has_other(&before, &whole)),
        };
        if is_written {
            return Ok(());
        }
        let (resource, status) = (ApiResource::erase::<K>(&()), Value::Object(status));
        let (namespace, name) = (object.namespace(), object.name_any());
        let after = write_status(&manager, &ctx.client, &resource, namespace.as_deref(), &name, &status).await?;
        self.remember(uid, |written| {
            match write.is_failure {
                true => written.failure = Some(Instant::now()),
                false => written.status = Some(hash),
            }
            written.unseen = Unseen::new(&after);
        });

        let now = list(&status["conditions"]);
        let shown =
            now.iter().map(|it| format!("{}={} ({})", text(it, "type"), text(it, "status"), text(it, "reason")));
        info!("status changed: {}", Vec::from_iter(shown).join(", "));
        for now in now {
            let (condition, is_silent) = (text(now, "type"), write.silent.contains(&text(now, "type")));
            if !is_silent && is_news(of_type(known, condition), now, write.event) {
                let type_ = if now["status"] == "True" { EventType::Normal } else { write.event };
                ctx.event(object, type_, text(now, "reason"), text(now, "message")).await;
            }
        }
        Ok(())
    }

    /// Whether a status that contains this one has nothing that is to be removed. What else there is may be of other controllers, or of
    /// this one before it was restarted: only applying the status once shows which.
    fn is_all(&self, uid: u64, hash: u64, has_other: impl Fn() -> bool) -> bool {
        let written = self.written().get(&uid).and_then(|written| written.status);
        if written.is_none() && !has_other() {
            self.remember(uid, |written| written.status = Some(hash));
            return true;
        }
        written == Some(hash)
    }

    /// Whether the object has this condition after a failure. Each change of the status causes another reconcile, without the pause
    /// that a failure is followed by: where only the message differs, it is therefore not written again at once.
    fn is_failure_written(&self, uid: u64, before: &Value, status: &Map<String, Value>) -> bool {
        const PAUSE: Duration = Duration::from_secs(30);
        let mut reworded = status.clone();
        if let Some(Value::Array(conditions)) = reworded.get_mut("conditions") {
            for condition in conditions {
                condition["message"] = of_type(list(&before["conditions"]), text(condition, "type"))["message"].clone();
            }
        }
        let last = self.written().get(&uid).and_then(|written| written.failure);
        contains(before, status) || contains(before, &reworded) && last.is_some_and(|last| last.elapsed() < PAUSE)
    }

    fn unseen(&self, uid: u64, resource_version: Option<&str>) -> Option<Value> {
        let mut all = self.written();
        let unseen = &mut all.get_mut(&uid)?.unseen;
        *unseen = unseen.take().filter(|unseen| unseen.is_newer_than(resource_version));
        serde_json::from_str(&unseen.as_ref()?.status).ok()
    }

    fn remember(&self, uid: u64, what: impl FnOnce(&mut Written)) {
        /// Objects that are gone are not taken out one by one.
        const MANY: usize = 100_000;
        let mut all = self.written();
        if all.len() >= MANY {
            all.clear();
        }
        what(all.entry(uid).or_default());
    }

    fn written(&self) -> MutexGuard<'_, HashMap<u64, Written>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A status in the shape of the type of the object, without fields that the API server would refuse.
struct Fitted {
    /// The fields that were given.
    status: Map<String, Value>,
    /// With those that are always there.
    whole: Map<String, Value>,
}

/// Fits a status to the type of the object, which has none. A status that is not the whole one may lack required fields: those are
/// as they were `before`.
fn fitted<K: DeserializeOwned + Serialize>(
    mut object: Value,
    before: &Value,
    status: Map<String, Value>,
    is_whole: bool,
) -> Fitted {
    let mut decode = |status: Map<String, Value>| {
        object["status"] = status.into();
        let object = serde_json::to_value(serde_json::from_value::<K>(object.clone()).ok()?).ok()?;
        Some(object["status"].as_object().cloned().unwrap_or_default())
    };
    let mut merged = before.as_object().cloned().unwrap_or_default();
    merged.extend(status.clone());
    let whole = if is_whole { decode(status.clone()) } else { None };
    // A type that cannot read what it writes says nothing about its fields.
    let mut whole = whole.or_else(|| decode(merged)).unwrap_or_else(|| status.clone());
    whole.retain(|_, value| !value.is_null());
    let given = whole.iter().filter(|(name, _)| status.contains_key(*name));
    Fitted { status: given.map(|(name, value)| (name.clone(), value.clone())).collect(), whole }
}

/// Whether the object has these fields and conditions.
fn contains(before: &Value, status: &Map<String, Value>) -> bool {
    status.iter().all(|(name, value)| match name.as_str() {
        "conditions" => list(value).iter().all(|condition| list(&before["conditions"]).contains(condition)),
        _ => before[name] == *value,
    })
}

/// Whether the object has fields or conditions that its status would not have.
fn has_other(before: &Value, whole: &Map<String, Value>) -> bool {
    let conditions = list(whole.get("conditions").unwrap_or_default());
    before.as_object().into_iter().flatten().any(|(name, value)| match name.as_str() {
        "conditions" => list(value).iter().any(|condition| of_type(conditions, text(condition, "type")).is_null()),
        _ => !value.is_null() && whole.get(name) != Some(value),
    })
}

/// Whether people want to know of a condition: of each change, but not of the start of what is under way.
fn is_news(old: &Value, now: &Value, event: EventType) -> bool {
    match old {
        Value::Null => now["status"] == "True" || event == EventType::Warning,
        old => ["status", "reason"].into_iter().any(|field| old[field] != now[field]),
    }
}

/// Gives a condition its times: that of the object's spec, and the transition time of the one before it unless the status changed.
pub(super) fn dated(before: &[Value], condition: &mut Value, generation: Option<i64>) {
    let old = of_type(before, text(condition, "type"));
    if old["status"] == condition["status"] && old["lastTransitionTime"].is_string() {
        condition["lastTransitionTime"] = old["lastTransitionTime"].clone();
    }
    condition["observedGeneration"] = generation.into();
}

/// The condition of this type, or null.
pub(super) fn of_type<'a>(conditions: &'a [Value], name: &str) -> &'a Value {
    conditions.iter().find(|condition| condition["type"] == name).unwrap_or(&Value::Null)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;
