//! Watches of kinds that are only known while the controller runs. A change triggers the reconcile of an object of the
//! controller.

use std::sync::{Mutex, PoisonError};

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::{Stream, StreamExt, stream};
use kube::api::{Api, DynamicObject, PartialObjectMeta};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use tracing::warn;

use super::watch::why;

/// Namespace and name of an object of the controller.
pub(crate) type Name = (Option<String>, String);

/// A queue of objects to reconcile, after changes outside of the controller's own watches.
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
    pub fn sender(&self) -> UnboundedSender<Name> {
        self.sender.clone()
    }

    /// The names of the objects to reconcile. The first call gets all; later streams are empty.
    pub fn names(&self) -> impl Stream<Item = Name> + Send + 'static {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take();
        stream::iter(receiver).flatten()
    }
}

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
