//! Watches that go on whatever an object looks like: one that does not fit its type is reported and left out until it fits.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use futures::{Stream, StreamExt};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{Api, ApiResource, ObjectMeta};
use kube::runtime::events::EventType;
use kube::runtime::{watcher, watcher::Event};
use kube::{Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::json;
use tracing::{debug, info, warn};

use super::outcome::Writer;
use super::received::{Misfit, Received};
use crate::apply::{api_for, write_status};
use crate::conditions::{READY, not_ready};
use crate::{Context, brief, conditions};

/// The reason of conditions and events about objects that do not fit their type.
const UNDECODABLE: &str = "Undecodable";

/// The objects of kind `K` that a controller watches.
pub(super) struct Watch {
    controller: &'static str,
    ctx: Context,
    /// How the status of its objects is written; none for objects that belong to others.
    writer: Option<Writer>,
    reports: UnboundedSender<Report>,
    undecodable: Arc<Mutex<BTreeMap<Name, Problem>>>,
}

/// Namespace and name.
type Name = (Option<String>, String);

/// What was reported last.
#[derive(Clone, Debug, PartialEq)]
struct Problem {
    uid: Option<String>,
    generation: Option<i64>,
    why: String,
    /// Whether it was seen since the last list began.
    is_listed: bool,
}

/// An object to report on, beside the watch, which waits for nothing.
pub(super) struct Report {
    misfit: Box<Misfit>,
    resource: ApiResource,
    write: Option<Writer>,
}

impl Watch {
    /// The watch and what it reports, which [`publish`] makes known.
    pub fn new(controller: &'static str, ctx: &Context, writer: Option<Writer>) -> (Self, UnboundedReceiver<Report>) {
        let (reports, received) = mpsc::unbounded();
        (Self { controller, ctx: ctx.clone(), writer, reports, undecodable: Arc::default() }, received)
    }

    /// The objects of kind `K` that fit it. `last` gives an object as it was when it still fitted: when it fits no more, it is gone.
    pub fn objects<K>(
        self,
        config: watcher::Config,
        last: impl Fn(&Name) -> Option<K>,
    ) -> impl Stream<Item = watcher::Result<Event<K>>>
    where
        K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug + Send + 'static,
    {
        let api: Api<Received<K>> = api_for(&self.ctx.client, self.ctx.namespace(), &());
        watcher(api, config).filter_map(move |event| {
            let event = match event {
                Ok(event) => self.fitting(event, &last).map(Ok),
                Err(error) => {
                    self.ctx.metrics.watch_restarted(self.controller, &K::kind(&()));
                    Some(Err(error))
                }
            };
            std::future::ready(event)
        })
    }

    fn fitting<K>(&self, event: Event<Received<K>>, last: &impl Fn(&Name) -> Option<K>) -> Option<Event<K>>
    where
        K: Resource<DynamicType = ()>,
    {
        match event {
            Event::Init => {
                self.problems().values_mut().for_each(|problem| problem.is_listed = false);
                Some(Event::Init)
            }
            Event::InitDone => {
                self.problems().retain(|_, problem| problem.is_listed);
                self.count::<K>();
                Some(Event::InitDone)
            }
            Event::InitApply(Received::Fits(object)) => {
                self.fits(&*object);
                Some(Event::InitApply(stripped(*object)))
            }
            Event::Apply(Received::Fits(object)) => {
                self.fits(&*object);
                Some(Event::Apply(stripped(*object)))
            }
            Event::Delete(Received::Fits(object)) => {
                self.fits(&*object);
                Some(Event::Delete(*object))
            }
            Event::InitApply(Received::Misfit(misfit)) => {
                self.report::<K>(misfit);
                None
            }
            Event::Apply(Received::Misfit(misfit)) => {
                let old = last(&name(&misfit.metadata));
                self.report::<K>(misfit);
                // The old one must not be reconciled any more when something else changes.
                old.map(Event::Delete)
            }
            Event::Delete(Received::Misfit(misfit)) => {
                self.problems().remove(&name(&misfit.metadata));
                self.count::<K>();
                last(&name(&misfit.metadata)).map(Event::Delete)
            }
        }
    }

    fn problems(&self) -> MutexGuard<'_, BTreeMap<Name, Problem>> {
        self.undecodable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count<K: Resource<DynamicType = ()>>(&self) {
        let number = self.problems().len();
        self.ctx.metrics.undecodable(self.controller, &K::kind(&()), number);
    }

    fn fits<K: Resource<DynamicType = ()>>(&self, object: &K) {
        // Most of the time there is none, and names are not copied.
        if self.problems().is_empty() || self.problems().remove(&name(object.meta())).is_none() {
            return;
        }
        self.count::<K>();
        info!(controller = self.controller, "{} {} can be decoded again", K::kind(&()), shown(object.meta()));
    }

    fn report<K: Resource<DynamicType = ()>>(&self, misfit: Box<Misfit>) {
        let problem = Problem {
            uid: misfit.metadata.uid.clone(),
            generation: misfit.metadata.generation,
            why: misfit.why.clone(),
            is_listed: true,
        };
        let old = self.problems().insert(name(&misfit.metadata), problem.clone());
        // The status that is written about it is a change, too, and so is a list of all objects.
        if old.is_some_and(|old| Problem { is_listed: true, ..old } == problem) {
            return;
        }
        self.count::<K>();
        self.ctx.metrics.decode_failed(self.controller, &K::kind(&()));
        warn!(
            controller = self.controller,
            "{} {} is left out, since it does not fit its Rust type: {}",
            K::kind(&()),
            shown(&misfit.metadata),
            misfit.why
        );
        let report = Report { misfit, resource: ApiResource::erase::<K>(&()), write: self.writer };
        // Nobody listens at shutdown.
        let _ = self.reports.unbounded_send(report);
    }
}

/// Publishes an event about each object that does not fit its type, and writes the condition into its status, if it is the
/// controller's own.
pub(super) async fn publish<K: Resource<DynamicType = ()>>(mut reports: UnboundedReceiver<Report>, ctx: Context) {
    while let Some(Report { misfit, resource, write }) = reports.next().await {
        let Misfit { metadata, conditions: known, why } = *misfit;
        let note = format!("it does not fit the operator's type: {why}");
        if let Some(writer) = write {
            let mut condition = not_ready(UNDECODABLE, &note);
            condition.type_ = writer.condition.to_owned();
            let condition = conditions::next(&known, condition, metadata.generation);
            if !known.contains(&condition) {
                let manager = format!("{}/failure", ctx.field_manager);
                let (namespace, name) = (metadata.namespace.as_deref(), metadata.name.as_deref().unwrap_or_default());
                // The kind may have no such field, or this controller no permission: then the event is all.
                if let Err(error) = write_condition::<K>(&manager, &ctx, namespace, name, &condition, writer).await {
                    debug!("the status of {name} does not show that it is left out: {}", brief(&error));
                }
            }
        }
        let reference = k8s_openapi::api::core::v1::ObjectReference {
            api_version: Some(resource.api_version),
            kind: Some(resource.kind),
            name: metadata.name,
            namespace: metadata.namespace,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
            ..Default::default()
        };
        ctx.publish(&reference, EventType::Warning, UNDECODABLE, note).await;
    }
}

/// With `observedGeneration`, where the kind has it.
async fn write_condition<K: Resource<DynamicType = ()>>(
    manager: &str,
    ctx: &Context,
    namespace: Option<&str>,
    name: &str,
    condition: &Condition,
    writer: Writer,
) -> Result<(), kube::Error> {
    let status = json!({ "conditions": [condition] });
    if writer.condition == READY {
        let mut whole = status.clone();
        whole["observedGeneration"] = condition.observed_generation.into();
        let written = write_status::<K>(manager, &ctx.client, namespace, name, &whole).await;
        if written.is_ok() {
            return Ok(());
        }
    }
    write_status::<K>(manager, &ctx.client, namespace, name, &status).await
}

/// Without `managedFields`, which are often larger than the rest of the object.
fn stripped<K: Resource>(mut object: K) -> K {
    object.managed_fields_mut().clear();
    object
}

fn name(metadata: &ObjectMeta) -> Name {
    (metadata.namespace.clone(), metadata.name.clone().unwrap_or_default())
}

fn shown(metadata: &ObjectMeta) -> String {
    let path = [metadata.namespace.as_deref(), metadata.name.as_deref()];
    Vec::from_iter(path.into_iter().flatten()).join("/")
}
