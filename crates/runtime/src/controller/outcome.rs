//! What a reconcile returns, and how it becomes the status of the object.

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::Resource;
use kube::runtime::controller::Action;
use kube::runtime::events::EventType;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tracing::debug;

use crate::apply::write_status;
use crate::conditions::{self, READY};
use crate::{Context, Error};

/// The result of a reconcile: the conditions and other fields of the object's status, and when to reconcile again.
///
/// The status is written by server-side apply if it differs from what the object has. `observedGeneration` is set where the type of
/// the status has it. A condition that changed its status or reason is published as an event.
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
    action: Option<Action>,
    pub(super) changes: Vec<String>,
}

impl Outcome {
    fn new(conditions: Vec<Condition>, writes: bool) -> Self {
        Self { conditions, status: None, writes, action: None, changes: Vec::new() }
    }

    /// The object is what its spec asks for: the condition `Ready` is `True`.
    pub fn ready(reason: &str, message: impl Into<String>) -> Self {
        conditions::ready(reason, message).into()
    }

    /// The object is not what its spec asks for, and this is no error: the condition `Ready` is `False`.
    pub fn not_ready(reason: &str, message: impl Into<String>) -> Self {
        conditions::not_ready(reason, message).into()
    }

    /// The status stays as it is.
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

    /// Sets the fields of the status. `observedGeneration` and conditions of the outcome are added to them.
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
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer {
    /// The type of the condition that sums up this controller: `Ready`, or that of a second controller of the kind, which leaves
    /// everything else in the status to the first one.
    pub condition: &'static str,
    /// Whether it writes anything: not for a `reconcile` that returns an `Action`.
    pub writes: bool,
}

/// What was done after a reconcile.
pub(super) struct Settled {
    pub action: Action,
    /// What has changed in the cluster, in words.
    pub changes: Vec<String>,
}

impl Writer {
    fn is_main(self) -> bool {
        self.condition == READY
    }

    /// Writes the status after a reconcile. After a failure, that is the condition alone: the rest stays.
    pub async fn settle<K>(self, object: &K, result: Result<Outcome, Error>, ctx: &Context) -> Result<Settled, Error>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Serialize,
    {
        match result {
            Ok(outcome) => {
                let action = outcome.action.clone().unwrap_or_else(|| ctx.requeue());
                let mut changes = outcome.changes;
                if outcome.writes {
                    let status = outcome.status.transpose()?.unwrap_or_default();
                    let write = Write { manager: &ctx.field_manager, event: EventType::Normal, status };
                    changes.extend(self.write(object, outcome.conditions, write, ctx).await?);
                }
                Ok(Settled { action, changes })
            }
            Err(error) if !self.writes => Err(error),
            Err(error) => {
                // By a field manager of its own, so that the fields that the other one applied stay.
                let manager = format!("{}/failure", ctx.field_manager);
                let write = Write { manager: &manager, event: EventType::Warning, status: Value::Null };
                let condition = conditions::not_ready(error.reason(), error.to_string());
                if let Err(second) = self.write(object, vec![condition], write, ctx).await {
                    debug!("the status does not show the failure: {second}");
                }
                Err(error)
            }
        }
    }

    async fn write<K>(
        self,
        object: &K,
        conditions: Vec<Condition>,
        write: Write<'_>,
        ctx: &Context,
    ) -> Result<Option<String>, Error>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Serialize,
    {
        let mut json = serde_json::to_value(object)?;
        let before = json["status"].take();
        let known = conditions_in(&before["conditions"]);
        let mut status = match write.status {
            Value::Object(status) => status,
            _ => Map::new(),
        };
        let generation = object.meta().generation;
        let mut all = Vec::new();
        let given = conditions_in(status.get("conditions").unwrap_or_default());
        for mut condition in conditions.into_iter().chain(given) {
            if condition.type_ == READY {
                condition.type_ = self.condition.to_owned();
            }
            if all.iter().all(|other: &Condition| other.type_ != condition.type_) {
                all.push(conditions::next(&known, condition, generation));
            }
        }
        status.insert("conditions".to_owned(), serde_json::to_value(&all)?);
        if self.is_main() {
            status.insert("observedGeneration".to_owned(), generation.into());
        }
        let is_whole = self.is_main() && write.event == EventType::Normal;
        let names: BTreeSet<String> = status.keys().cloned().collect();
        let mut status = fitted::<K>(json, status)?;
        status.retain(|name, value| !value.is_null() && (is_whole || names.contains(name)));
        if is_written(&before, &status, &all, is_whole) {
            return Ok(None);
        }
        let status = Value::Object(status);
        let (namespace, name) = (object.meta().namespace.as_deref(), object.meta().name.as_deref());
        write_status::<K>(write.manager, &ctx.client, namespace, name.unwrap_or_default(), &status).await?;
        for now in &all {
            let old = known.iter().find(|old| old.type_ == now.type_);
            if is_news(old, now, write.event) {
                let type_ = if now.status == "True" { EventType::Normal } else { write.event };
                ctx.event(object, type_, &now.reason, &now.message).await;
            }
        }
        let shown = all.iter().map(|it| format!("{}={} ({})", it.type_, it.status, it.reason));
        Ok(Some(Vec::from_iter(shown).join(", ")))
    }
}

struct Write<'a> {
    manager: &'a str,
    /// Of conditions that are not `True`.
    event: EventType,
    /// An object, or null.
    status: Value,
}

/// Whether people want to know of a condition: of each change, but not of the start of what is under way.
fn is_news(old: Option<&Condition>, now: &Condition, event: EventType) -> bool {
    match old {
        Some(old) => (&old.status, &old.reason) != (&now.status, &now.reason),
        None => now.status == "True" || event == EventType::Warning,
    }
}

/// The fields of this status that the type of the object has: others would be refused by the API server.
fn fitted<K: DeserializeOwned + Serialize>(
    mut object: Value,
    status: Map<String, Value>,
) -> Result<Map<String, Value>, serde_json::Error> {
    object["status"] = Value::Object(status);
    let object: K = serde_json::from_value(object)?;
    match serde_json::to_value(object)?["status"].take() {
        Value::Object(status) => Ok(status),
        _ => Ok(Map::new()),
    }
}

/// Whether the object has this status already. Where it is not the whole status, fields that it lacks are not compared.
fn is_written(before: &Value, status: &Map<String, Value>, conditions: &[Condition], is_whole: bool) -> bool {
    let is_same = |(name, value): (&String, &Value)| match name.as_str() {
        "conditions" => {
            let before = conditions_in(&before["conditions"]);
            conditions.iter().all(|condition| before.contains(condition))
        }
        _ => before[name] == *value,
    };
    let gone = |(name, value): (&String, &Value)| !value.is_null() && !status.contains_key(name);
    let is_lacking = is_whole && before.as_object().into_iter().flatten().any(gone);
    status.iter().all(is_same) && !is_lacking
}

/// The conditions in this list; what is none is left out.
pub(super) fn conditions_in(list: &Value) -> Vec<Condition> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|condition| Condition::deserialize(condition).ok()).collect()
}
