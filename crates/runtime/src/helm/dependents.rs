//! Watches of the objects of releases, whatever their kinds: a change leads to the object that the release belongs to.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::{Stream, StreamExt, stream};
use kube::api::{Api, ApiResource, DynamicObject, PartialObjectMeta};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Resource, ResourceExt};
use tracing::warn;

use super::manifest::{MANAGED_BY, RELEASE_NAME, RELEASE_NAMESPACE};
use super::release::Id;
use crate::Context;

/// The namespace and the name of an object of a controller.
type Name = (Option<String>, String);

/// How a controller hears of changes of the releases that it has applied.
#[derive(Debug)]
pub(crate) struct Trigger {
    sender: UnboundedSender<Name>,
    receiver: Mutex<Option<UnboundedReceiver<Name>>>,
}

impl Default for Trigger {
    fn default() -> Self {
        let (sender, receiver) = unbounded();
        Self { sender, receiver: Mutex::new(Some(receiver)) }
    }
}

impl Trigger {
    /// The names of objects to reconcile, for the first who asks.
    pub fn names(&self) -> impl Stream<Item = Name> + Send + 'static {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take();
        stream::iter(receiver).flatten()
    }
}

/// The releases whose objects are watched, and the watches.
#[derive(Debug, Default)]
pub(super) struct Dependents {
    releases: Mutex<HashMap<Id, (UnboundedSender<Name>, Name)>>,
    /// Of a kind, in one namespace or in all.
    watches: Mutex<HashSet<(ApiResource, Option<String>)>>,
}

impl Dependents {
    /// From now on, a change of an object of this release leads to this object.
    pub fn track(&self, id: &Id, object: &impl ResourceExt, ctx: &Context) {
        let name = (object.namespace(), object.name_any());
        self.releases().insert(id.clone(), (ctx.releases.sender.clone(), name));
    }

    pub fn forget(&self, id: &Id) {
        self.releases().remove(id);
    }

    /// Watches the objects of releases of this kind, unless they are watched already.
    pub fn watch(&self, resource: &ApiResource, namespace: Option<&str>, ctx: &Context) {
        let key = (resource.clone(), namespace.map(str::to_owned));
        let is_new = self.watches.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        if is_new {
            let api: Api<PartialObjectMeta<DynamicObject>> = match namespace {
                Some(namespace) => Api::namespaced_with(ctx.client.clone(), namespace, resource),
                None => Api::all_with(ctx.client.clone(), resource),
            };
            tokio::spawn(watch(api, resource.kind.clone(), ctx.clone()));
        }
    }

    fn changed(&self, object: &impl Resource) {
        let annotation = |name: &str| object.meta().annotations.as_ref()?.get(name).cloned();
        let (Some(name), Some(namespace)) = (annotation(RELEASE_NAME), annotation(RELEASE_NAMESPACE)) else { return };
        if let Some((sender, name)) = self.releases().get(&Id { namespace, name }) {
            // The controller that would hear of it has ended.
            let _ = sender.unbounded_send(name.clone());
        }
    }

    fn releases(&self) -> MutexGuard<'_, HashMap<Id, (UnboundedSender<Name>, Name)>> {
        self.releases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Goes on until shutdown, whatever becomes of the API server. Only the metadata is sent, and nothing is kept.
async fn watch(api: Api<PartialObjectMeta<DynamicObject>>, kind: String, ctx: Context) {
    let config = watcher::Config::default().labels(&format!("{MANAGED_BY}=Helm"));
    let helm = Arc::clone(&ctx.helm);
    // What is there at the start is no change.
    let mut is_listed = false;
    let events = watcher(api, config).default_backoff().for_each(|event| {
        match event {
            Ok(Event::Apply(object) | Event::Delete(object)) => helm.dependents.changed(&object),
            Ok(Event::InitApply(object)) if is_listed => helm.dependents.changed(&object),
            Ok(Event::InitDone) => is_listed = true,
            Ok(Event::InitApply(_) | Event::Init) => {}
            Err(error) => {
                warn!("watch of {kind} of releases failed, it starts again: {}", crate::controller::why(&error))
            }
        }
        std::future::ready(())
    });
    tokio::select! {
        () = events => {}
        () = ctx.shutdown() => {}
    }
}
