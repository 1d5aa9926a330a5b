//! Undecodable objects: each is counted, logged, and reported in a condition and an event.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use kube::Resource;
use kube::api::{ApiResource, ObjectMeta};
use kube::runtime::events::EventType;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::sleep;
use tracing::{debug, info, warn};

use super::backoff::jittered;
use super::outcome::{Writer, dated, of_type};
use super::received::Undecodable;
use super::scope::Scope;
use super::trigger::{ObjectKey, key};
use crate::apply::write_status;
use crate::conditions::{READY, not_ready};
use crate::error::brief;
use crate::{Context, names};

/// The reason of the conditions and events about undecodable objects.
const UNDECODABLE: &str = "Undecodable";

/// Maximum number of tries to report an object while the API server fails.
const TRIES: u8 = 5;
const PAUSE: Duration = Duration::from_secs(10);

/// The undecodable objects of one watch. Clones share them.
#[derive(Clone)]
pub(super) struct UndecodableObjects(Arc<Watched>);

struct Watched {
    controller: &'static str,
    ctx: Context,
    resource: ApiResource,
    /// Writes the status; `None` for objects that belong to others.
    writer: Option<Writer>,
    /// The finalizer of the controller.
    finalizer: Option<&'static str>,
    /// Only the replica that reconciles an object reports it.
    scope: Scope,
    known: Mutex<BTreeMap<ObjectKey, Known>>,
    changed: Notify,
}

struct Known {
    object: Arc<Undecodable>,
    /// The object was seen since the current list began.
    is_listed: bool,
    /// Remaining tries to report it; 0 once it is reported.
    tries: u8,
}

impl UndecodableObjects {
    /// Starts with no undecodable objects of kind `K`.
    pub fn new<K: Resource<DynamicType = ()>>(
        controller: &'static str,
        ctx: Context,
        writer: Option<Writer>,
        finalizer: Option<&'static str>,
    ) -> Self {
        let resource = ApiResource::erase::<K>(&());
        let (scope, known, changed) = (Scope::of(&ctx), Mutex::default(), Notify::new());
        Self(Arc::new(Watched { controller, ctx, resource, writer, finalizer, scope, known, changed }))
    }

    /// Records an object and queues its report, unless the same problem is known: writing the condition changes the
    /// object too, so it comes back here.
    pub fn insert(&self, object: Undecodable) {
        let mut known = self.known();
        let old = known.get_mut(&key(&object.metadata));
        if let Some(old) = old.filter(|old| is_same(&old.object, &object)) {
            old.is_listed = true;
            return;
        }
        let Watched { controller, ctx, resource, .. } = &*self.0;
        ctx.metrics.decode_failed(controller, &resource.kind);
        let name = shown(&object.metadata);
        warn!(controller, "{} {name} is ignored until it can be decoded: {}", resource.kind, object.why);
        known.insert(key(&object.metadata), Known { object: Arc::new(object), is_listed: true, tries: TRIES });
        self.count(&known);
        self.0.changed.notify_one();
    }

    /// Records that an object was decoded.
    pub fn remove(&self, object: &ObjectMeta) {
        if self.forget(object) {
            info!(controller = self.0.controller, "{} {} can be decoded again", self.0.resource.kind, shown(object));
        }
    }

    /// Removes a deleted object. Returns `true` if it was undecodable.
    pub fn forget(&self, object: &ObjectMeta) -> bool {
        let mut known = self.known();
        // Usually there are none, and the name need not be copied.
        let is_known = !known.is_empty() && known.remove(&key(object)).is_some();
        if is_known {
            self.count(&known);
        }
        is_known
    }

    /// A list begins: all objects follow.
    pub fn list_begins(&self) {
        self.known().values_mut().for_each(|known| known.is_listed = false);
    }

    /// A list ends: objects that it did not contain no longer exist.
    pub fn list_ends(&self) {
        let mut known = self.known();
        known.retain(|_, known| known.is_listed);
        self.count(&known);
    }

    /// Reports recorded objects one after the other; never returns.
    pub async fn report(self) {
        loop {
            let Some(object) = self.unreported() else {
                self.0.changed.notified().await;
                continue;
            };
            let result = self.0.report(&object).await;
            if let Some(known) = self.known().get_mut(&key(&object.metadata))
                // Otherwise, the object has changed meanwhile and needs a new report.
                && Arc::ptr_eq(&known.object, &object)
            {
                known.tries = if result.is_ok() { 0 } else { known.tries - 1 };
            }
            if let Err(error) = result {
                debug!("{} {} not reported: {}", self.0.resource.kind, shown(&object.metadata), brief(&error));
                sleep(jittered(PAUSE)).await;
            }
        }
    }

    /// The next object to report; those with fewer failures come first.
    fn unreported(&self) -> Option<Arc<Undecodable>> {
        let known = self.known();
        let next = known.values().filter(|known| known.tries > 0).max_by_key(|known| known.tries)?;
        Some(next.object.clone())
    }

    fn count(&self, known: &BTreeMap<ObjectKey, Known>) {
        let Watched { controller, ctx, resource, .. } = &*self.0;
        ctx.metrics.undecodable(controller, &resource.kind, ctx.namespace(), known.len());
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, Known>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    /// Writes the condition and publishes an event. Fails only if a retry may succeed.
    async fn report(&self, object: &Undecodable) -> Result<(), kube::Error> {
        let Some(_running) = self.scope.enter_unlisted(&object.metadata) else { return Ok(()) };
        let note = self.note(object);
        if let Some(writer) = &self.writer {
            let mut condition = json!(not_ready(UNDECODABLE, &note));
            condition["type"] = writer.condition.into();
            let old = of_type(&object.conditions, writer.condition);
            let is_same = |field: &str| old[field] == condition[field];
            if ["status", "reason", "message"].into_iter().all(is_same) {
                // It was reported before a restart of the operator.
                return Ok(());
            }
            dated(&object.conditions, &mut condition, object.metadata.generation);
            match self.write(object, condition, writer).await {
                Err(error) if may_pass(&error) => return Err(error),
                // The kind may have no conditions: then the event is the only report.
                Err(error) => {
                    debug!("condition of {} not written: {}", shown(&object.metadata), brief(&error))
                }
                Ok(()) => {}
            }
        }
        let metadata = object.metadata.clone();
        let reference = ObjectReference {
            api_version: Some(self.resource.api_version.clone()),
            kind: Some(self.resource.kind.clone()),
            name: metadata.name,
            namespace: metadata.namespace,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
            ..ObjectReference::default()
        };
        match self.ctx.publish(&reference, EventType::Warning, UNDECODABLE, &note).await {
            Err(error) if !may_pass(&error) => {
                warn!("event not published: {}", brief(&error));
                Ok(())
            }
            published => published,
        }
    }

    fn note(&self, Undecodable { metadata, why, .. }: &Undecodable) -> String {
        let finalizers = metadata.finalizers.iter().flatten();
        let held = finalizers.map(String::as_str).find(|name| Some(*name) == self.finalizer);
        match held.filter(|_| metadata.deletion_timestamp.is_some()) {
            Some(finalizer) => format!(
                "cannot be decoded: {why}; it cannot be cleaned up, and is not deleted until it is fixed or somebody removes the \
                 finalizer {finalizer}"
            ),
            None => format!("cannot be decoded: {why}"),
        }
    }

    /// Writes the condition, and `observedGeneration` if the status of the kind has it.
    async fn write(&self, object: &Undecodable, condition: Value, writer: &Writer) -> Result<(), kube::Error> {
        let (client, resource) = (&self.ctx.client, &self.resource);
        let manager = names::field_manager(&self.ctx.field_manager, "failure");
        let ObjectMeta { namespace, name, generation, .. } = &object.metadata;
        let name = name.as_deref().unwrap_or_default();
        let status = json!({ "conditions": [condition] });
        if writer.condition == READY {
            let mut whole = status.clone();
            whole["observedGeneration"] = (*generation).into();
            let written = write_status(&manager, client, resource, namespace.as_deref(), name, &whole).await;
            if !matches!(written, Err(kube::Error::Api(_))) {
                return written.map(drop);
            }
        }
        write_status(&manager, client, resource, namespace.as_deref(), name, &status).await.map(drop)
    }
}

/// `true` if both are about the same problem of the same generation.
fn is_same(one: &Undecodable, other: &Undecodable) -> bool {
    let key =
        |it: &Undecodable| (it.metadata.uid.clone(), it.metadata.generation, it.metadata.deletion_timestamp.is_some());
    one.why == other.why && key(one) == key(other)
}

/// `true` if a retry of the same request may succeed.
fn may_pass(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code >= 500 || status.code == 429,
        _ => true,
    }
}

fn shown(metadata: &ObjectMeta) -> String {
    let path = [metadata.namespace.as_deref(), metadata.name.as_deref()];
    Vec::from_iter(path.into_iter().flatten()).join("/")
}
