//! Watches of kinds that are only known while the controller runs.

use futures::StreamExt;
use kube::api::{Api, DynamicObject, PartialObjectMeta};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use tracing::warn;

use super::watch::why;

/// Watches metadata until shutdown, with retries; caches nothing. `changed` gets each changed object, and `true` if it
/// was deleted.
pub(crate) async fn watch(
    what: String,
    api: Api<PartialObjectMeta<DynamicObject>>,
    config: watcher::Config,
    shutdown: impl Future<Output = ()>,
    mut changed: impl FnMut(&PartialObjectMeta<DynamicObject>, bool),
) {
    // Objects of the first list have not changed.
    let mut is_listed = false;
    let events = watcher(api, config).default_backoff().for_each(|event| {
        match event {
            Ok(Event::Apply(object)) => changed(&object, false),
            Ok(Event::Delete(object)) => changed(&object, true),
            Ok(Event::InitApply(object)) if is_listed => changed(&object, false),
            Ok(Event::InitDone) => is_listed = true,
            Ok(Event::InitApply(_) | Event::Init) => {}
            Err(error) => warn!("watch of {what} failed, it starts again: {}", why(&error)),
        }
        std::future::ready(())
    });
    tokio::select! {
        () = events => {}
        () = shutdown => {}
    }
}
