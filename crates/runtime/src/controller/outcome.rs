//! The outcome of a reconcile, and the status that is written for it.

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

/// The outcome of a reconcile: conditions and other fields of the object's status, and the time of the next reconcile.
///
/// The status is written by server-side apply if it differs from that of the object; `observedGeneration` is added if
/// the type of the status has it. A condition whose status or reason changes is published as an event, of type Normal
/// unless the outcome [failed](Self::failed). No event is published if an object is not ready at its first reconcile.
///
/// After an error, only the condition changes. This requires a list of conditions with `x-kubernetes-list-type: map` in
/// the CRD, as `opctl create api` scaffolds it; other lists are replaced as a whole. For a kind whose status belongs to
/// others, such as Pods, `reconcile` returns an [`Action`].
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
    /// The outcome writes the status.
    writes: bool,
    /// The type of events about conditions that are not `True`.
    event: EventType,
    /// Types of conditions without events.
    silent: Vec<&'static str>,
    action: Option<Action>,
}

impl Outcome {
    fn new(conditions: Vec<Condition>, writes: bool) -> Self {
        Self { conditions, status: None, writes, event: EventType::Normal, silent: Vec::new(), action: None }
    }

    /// The object has reached the state that its spec describes: the condition `Ready` is `True`.
    pub fn ready(reason: &str, message: impl Into<String>) -> Self {
        conditions::ready(reason, message).into()
    }

    /// The object has not yet reached the state that its spec describes: the condition `Ready` is `False`.
    pub fn not_ready(reason: &str, message: impl Into<String>) -> Self {
        conditions::not_ready(reason, message).into()
    }

    /// The object cannot reach the state that its spec describes without intervention: the condition `Ready` is
    /// `False`, and the event is a Warning. Unlike after an [`Error`], there is no early retry.
    pub fn failed(reason: &str, message: impl Into<String>) -> Self {
        Self { event: EventType::Warning, ..Self::not_ready(reason, message) }
    }

    /// Leaves the status unchanged for now. A controller that never writes a status returns an [`Action`] or `()`, and
    /// needs no permission to write it.
    pub fn unchanged() -> Self {
        Self::new(Vec::new(), false)
    }

    /// Adds a condition, or replaces the one of the same type.
    #[must_use]
    pub fn condition(mut self, condition: Condition) -> Self {
        self.conditions.retain(|other| other.type_ != condition.type_);
        self.conditions.push(condition);
        self
    }

    /// Publishes no events about the condition of this type, which other events cover.
    #[cfg(any(feature = "ansible", feature = "helm"))]
    pub(crate) fn silent(mut self, type_: &'static str) -> Self {
        self.silent.push(type_);
        self
    }

    /// Sets the fields of the status; an [unchanged](Self::unchanged) outcome ignores them. `observedGeneration` and
    /// the conditions of the outcome are added. Fields of an earlier outcome that this one omits are removed.
    #[must_use]
    pub fn status(mut self, status: impl Serialize) -> Self {
        self.status = Some(serde_json::to_value(status));
        self
    }

    /// Reconciles the object again after this time, instead of after `--requeue-interval`.
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

    /// The time of the next reconcile; `None` for `--requeue-interval`.
    pub fn action(&self) -> Option<&Action> {
        self.action.as_ref()
    }

    /// `true` if the outcome does not write the status.
    pub fn is_unchanged(&self) -> bool {
        !self.writes
    }
}

impl From<Condition> for Outcome {
    fn from(condition: Condition) -> Self {
        Self::new(vec![condition], true)
    }
}

/// The types that a `reconcile` may return.
pub trait IntoOutcome {
    /// `true` if the type writes the status of the object, which requires the verb `patch` on the `status` subresource.
    const WRITES: bool;

    /// Converts the value to an outcome.
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

/// Writes the status of a controller's objects, if it differs from the last one.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    /// The type of the condition that summarizes this controller: `Ready`, or another one for a second controller of
    /// the kind, which leaves all other fields of the status to the first one.
    pub condition: &'static str,
    /// `false` for a `reconcile` that returns an `Action` or `()`.
    pub writes: bool,
    /// The last write of each object, by a hash of its uid.
    written: Arc<Mutex<HashMap<u64, Written>>>,
}

/// The last writes to the status of an object.
#[derive(Debug)]
struct Written {
    /// Hash of the last status after a success.
    status: Option<u64>,
    /// Status of the condition that summarizes the controller.
    ready: &'static str,
    /// The status after the last write, until a watch event contains it.
    unseen: Option<Unseen>,
    /// The `resourceVersion`s after writes, until the watch delivers them.
    undelivered: Vec<u64>,
    /// The `resourceVersion`s that the watch delivers while the status is being written: one of them may be that of
    /// the write. `None` at other times.
    meanwhile: Option<Vec<u64>>,
}

/// A written status that the watch has not delivered yet. Until then, reconciles get an older object, though possibly a
/// newer one than the reconcile that wrote the status had.
#[derive(Debug)]
struct Unseen {
    /// The `resourceVersion` after the write. Those of one kind are ordered.
    version: u64,
    /// JSON text, which needs far less memory than a [`Value`].
    status: Box<str>,
    at: Instant,
}

impl Unseen {
    /// `object` is the response to the write.
    fn new(object: &Value) -> Option<Self> {
        let version = object["metadata"]["resourceVersion"].as_str()?.parse().ok()?;
        Some(Self { version, status: object["status"].to_string().into(), at: Instant::now() })
    }

    /// `true` if the object of this `resourceVersion` is older than the write. If it still is after a minute, the
    /// storage of the API server was restored from a backup, and the write is lost.
    fn is_newer_than(&self, version: Option<&str>) -> bool {
        const LATE: Duration = Duration::from_secs(60);
        let version = version.and_then(|version| version.parse::<u64>().ok());
        version.is_some_and(|version| version < self.version) && self.at.elapsed() < LATE
    }
}

impl Default for Written {
    fn default() -> Self {
        Self { status: None, ready: UNKNOWN, unseen: None, undelivered: Vec::new(), meanwhile: None }
    }
}

/// Status of a condition that was not written yet.
const UNKNOWN: &str = "Unknown";

/// The input of a write.
struct Write {
    conditions: Vec<Condition>,
    /// A JSON object, or null.
    status: Value,
    /// The type of events about conditions that are not `True`.
    event: EventType,
    /// Types of conditions without events.
    silent: Vec<&'static str>,
    /// The reconcile failed: the rest of the status is kept.
    is_failure: bool,
}

impl Writer {
    pub fn new(condition: &'static str, writes: bool) -> Self {
        Self { condition, writes, written: Arc::default() }
    }

    /// Writes the status after a reconcile; after a failure only the condition.
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

    /// Counts objects by the status of the condition that summarizes this controller.
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
        // A failure has its own field manager, so that it keeps the fields that a success applied.
        let manager = match write.is_failure {
            true => names::field_manager(&ctx.field_manager, "failure"),
            false => ctx.field_manager.to_string(),
        };
        let hash = hash(&Value::from(status.clone()).to_string());
        let is_written = match write.is_failure {
            true => contains(&before, &status),
            false => contains(&before, &status) && self.is_all(uid, hash, || is_main && has_other(&before, &whole)),
        };
        if is_written {
            return Ok(());
        }
        let (resource, status) = (ApiResource::erase::<K>(&()), Value::Object(status));
        let (namespace, name) = (object.namespace(), object.name_any());
        self.remember(uid, |written| written.meanwhile = Some(Vec::new()));
        let after = write_status(&manager, &ctx.client, &resource, namespace.as_deref(), &name, &status).await;
        let unseen = after.as_ref().ok().and_then(Unseen::new);
        let version = unseen.as_ref().map(|unseen| unseen.version);
        let is_changed_meanwhile = self.remember(uid, |written| {
            if after.is_ok() {
                written.unseen = unseen;
                written.status = if write.is_failure { written.status } else { Some(hash) };
            }
            let meanwhile = written.meanwhile.take().unwrap_or_default();
            written.undelivered.extend(version.filter(|version| !meanwhile.contains(version)));
            meanwhile.into_iter().any(|other| Some(other) != version)
        });
        if is_changed_meanwhile {
            // Fails only while the controller ends.
            let _ = ctx.queue.sender().unbounded_send((namespace, name));
        }
        after?;

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

    /// `true` if a status that contains all given fields has none to remove. Other fields may be those of other
    /// controllers, or of this one before a restart: only applying the status once decides that.
    fn is_all(&self, uid: u64, hash: u64, has_other: impl Fn() -> bool) -> bool {
        let written = self.written().get(&uid).and_then(|written| written.status);
        if written.is_none() && !has_other() {
            self.remember(uid, |written| written.status = Some(hash));
            return true;
        }
        written == Some(hash)
    }

    /// `true` if a watch delivers this version of an object because of a write of its status by this controller. If
    /// a write is not answered yet, the version is kept until it is, and the object is reconciled then if the version
    /// has another cause.
    pub fn is_own_write<K: Resource>(&self, object: &K) -> bool {
        let Some(version) = object.meta().resource_version.as_ref().and_then(|version| version.parse().ok()) else {
            return false;
        };
        let mut all = self.written();
        let Some(written) = all.get_mut(&hash(&object.meta().uid)) else { return false };
        if written.undelivered.contains(&version) {
            written.undelivered.retain(|other| *other > version);
            return true;
        }
        let Some(meanwhile) = &mut written.meanwhile else { return false };
        meanwhile.push(version);
        true
    }

    /// Forgets what this controller has written into the status of an object, since another replica may have written
    /// it since then.
    pub fn forget<K: Resource>(&self, object: &K) {
        if let Some(written) = self.written().get_mut(&hash(&object.meta().uid)) {
            written.status = None;
        }
    }

    fn unseen(&self, uid: u64, resource_version: Option<&str>) -> Option<Value> {
        let mut all = self.written();
        let unseen = &mut all.get_mut(&uid)?.unseen;
        *unseen = unseen.take().filter(|unseen| unseen.is_newer_than(resource_version));
        serde_json::from_str(&unseen.as_ref()?.status).ok()
    }

    fn remember<T>(&self, uid: u64, what: impl FnOnce(&mut Written) -> T) -> T {
        /// Limit of the map, which is cleared then: deleted objects are not removed one by one.
        const MANY: usize = 100_000;
        let mut all = self.written();
        if all.len() >= MANY {
            all.retain(|_, written| written.meanwhile.is_some());
        }
        what(all.entry(uid).or_default())
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

/// A status with only the fields of the object's type, since the API server would report unknown ones.
struct Fitted {
    /// The fields of the outcome.
    status: Map<String, Value>,
    /// These fields, and those that the type always serializes.
    whole: Map<String, Value>,
}

/// Decodes a status with the type `K` of the object. A partial status may lack required fields, which are taken from
/// the status `before`.
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
    // If the type cannot decode its own output, its fields are unknown.
    let mut whole = whole.or_else(|| decode(merged)).unwrap_or_else(|| status.clone());
    whole.retain(|_, value| !value.is_null());
    let given = whole.iter().filter(|(name, _)| status.contains_key(*name));
    Fitted { status: given.map(|(name, value)| (name.clone(), value.clone())).collect(), whole }
}

/// `true` if the status `before` has these fields and conditions.
fn contains(before: &Value, status: &Map<String, Value>) -> bool {
    status.iter().all(|(name, value)| match name.as_str() {
        "conditions" => list(value).iter().all(|condition| list(&before["conditions"]).contains(condition)),
        _ => before[name] == *value,
    })
}

/// `true` if the status `before` has fields or conditions that `whole` lacks.
fn has_other(before: &Value, whole: &Map<String, Value>) -> bool {
    let conditions = list(whole.get("conditions").unwrap_or_default());
    before.as_object().into_iter().flatten().any(|(name, value)| match name.as_str() {
        "conditions" => list(value).iter().any(|condition| of_type(conditions, text(condition, "type")).is_null()),
        _ => !value.is_null() && whole.get(name) != Some(value),
    })
}

/// `true` if a condition is published as an event: after each change, but not for the initial progress.
fn is_news(old: &Value, now: &Value, event: EventType) -> bool {
    match old {
        Value::Null => now["status"] == "True" || event == EventType::Warning,
        old => ["status", "reason"].into_iter().any(|field| old[field] != now[field]),
    }
}

/// Sets `observedGeneration`, and the transition time of the previous condition unless the status changed.
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
