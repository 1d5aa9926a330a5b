//! Watches that survive undecodable objects and failures of the API server.

use std::fmt::Debug;
use std::future::ready;

use futures::{Stream, StreamExt};
use kube::Resource;
use kube::api::{Api, ObjectMeta};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use serde::de::DeserializeOwned;
use tracing::warn;

use super::backoff::Pause;
use super::received::Received;
use super::undecodable::UndecodableObjects;
use crate::{Context, brief, with_causes};

/// Watches the objects of an API. A failure is logged and counted, and the watch is retried after a pause, without
/// delaying others.
pub(super) fn watch<K>(
    controller: &'static str,
    ctx: &Context,
    api: Api<K>,
    config: watcher::Config,
) -> impl Stream<Item = watcher::Result<Event<K>>> + Send + 'static + use<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let metrics = ctx.metrics.clone();
    watcher(api, config)
        .inspect(move |event| {
            if let Err(error) = event {
                let kind = K::kind(&());
                metrics.watch_restarted(controller, &kind);
                warn!(controller, "watch of {kind} failed, it starts again: {}", why(error));
            }
        })
        .backoff(Pause)
        // kube's controller would pause all of its watches after an error.
        .filter(|event| ready(event.is_ok()))
}

/// The decoded objects of kind `K`; the others are recorded in `undecodable`. `last` returns the last decoded version of an
/// object.
pub(super) fn fitting<K>(
    events: impl Stream<Item = watcher::Result<Event<Received<K>>>> + Send + 'static,
    undecodable: UndecodableObjects,
    last: impl Fn(&ObjectMeta) -> Option<K> + Send + 'static,
) -> impl Stream<Item = watcher::Result<Event<K>>> + Send + 'static
where
    K: Resource<DynamicType = ()> + Send + 'static,
{
    let fits = move |event: Event<Received<K>>| match event {
        Event::Init => {
            undecodable.list_begins();
            Some(Event::Init)
        }
        Event::InitDone => {
            undecodable.list_ends();
            Some(Event::InitDone)
        }
        Event::InitApply(Received::Fits(object)) => {
            undecodable.remove(object.meta());
            Some(Event::InitApply(stripped(object)))
        }
        Event::Apply(Received::Fits(object)) => {
            undecodable.remove(object.meta());
            Some(Event::Apply(stripped(object)))
        }
        Event::Delete(Received::Fits(object)) => {
            undecodable.forget(object.meta());
            Some(Event::Delete(object))
        }
        // The new store does not contain the object.
        Event::InitApply(Received::Undecodable(object)) => {
            undecodable.insert(*object);
            None
        }
        // The store must not keep the old object, which another event could reconcile.
        Event::Apply(Received::Undecodable(object)) => {
            let old = last(&object.metadata);
            undecodable.insert(*object);
            old.map(Event::Delete)
        }
        Event::Delete(Received::Undecodable(object)) => {
            undecodable.forget(&object.metadata);
            last(&object.metadata).map(Event::Delete)
        }
    };
    events.filter_map(move |event| ready(event.map(&fits).transpose()))
}

/// Drops `managedFields`, which are often larger than the rest of the object.
fn stripped<K: Resource>(mut object: K) -> K {
    object.meta_mut().managed_fields = None;
    object
}

/// The error in one line; the `Display` of a failed request would repeat the whole response.
pub(crate) fn why(error: &watcher::Error) -> String {
    use std::error::Error as _;
    let request = error.source().and_then(|cause| cause.downcast_ref());
    request.map_or_else(|| with_causes(error), brief)
}

#[cfg(test)]
mod tests;
