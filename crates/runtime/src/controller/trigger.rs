//! Reconciles that have another cause than an event of the controller's own watches.

use std::sync::{Mutex, PoisonError};

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::{Stream, StreamExt, stream};
use kube::Resource;
use kube::api::ObjectMeta;
use kube::runtime::reflector::ObjectRef;

/// Namespace and name of an object of the controller.
pub(crate) type ObjectKey = (Option<String>, String);

/// A queue of objects to reconcile.
#[derive(Debug)]
pub(crate) struct Trigger {
    sender: UnboundedSender<ObjectKey>,
    receiver: Mutex<Option<UnboundedReceiver<ObjectKey>>>,
}

impl Default for Trigger {
    fn default() -> Self {
        let (sender, receiver) = unbounded();
        Self { sender, receiver: Mutex::new(Some(receiver)) }
    }
}

impl Trigger {
    pub fn sender(&self) -> UnboundedSender<ObjectKey> {
        self.sender.clone()
    }

    /// The objects to reconcile. The first call gets all; later streams are empty.
    pub fn objects<K: Resource<DynamicType = ()>>(&self) -> impl Stream<Item = ObjectRef<K>> + Send + 'static {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take();
        stream::iter(receiver).flatten().map(|(namespace, name)| reference(namespace.as_deref(), &name))
    }
}

/// The key of an object.
pub(super) fn key(metadata: &ObjectMeta) -> ObjectKey {
    (metadata.namespace.clone(), metadata.name.clone().unwrap_or_default())
}

/// A reference to an object by namespace and name.
pub(super) fn reference<K: Resource<DynamicType = ()>>(namespace: Option<&str>, name: &str) -> ObjectRef<K> {
    let object = ObjectRef::new(name);
    namespace.into_iter().fold(object, |object, namespace| object.within(namespace))
}
