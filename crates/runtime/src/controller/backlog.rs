//! The objects of a list that are not reconciled yet.
//!
//! kube's queue is in order of arrival, so an object that changes after a start would wait until all others have been
//! reconciled. Listed objects therefore enter the queue only as earlier ones leave it.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::channel::mpsc::UnboundedSender;
use kube::runtime::reflector::Store;
use kube::runtime::watcher::Event;

use super::Kind;
use super::scope::Scope;
use super::trigger::{ObjectKey, key, reference};

/// The backlog of a controller.
pub(super) struct Backlog<K: Kind> {
    objects: Store<K>,
    queue: UnboundedSender<ObjectKey>,
    /// Number of objects in the queue.
    limit: usize,
    scope: Scope,
    state: Arc<Mutex<State>>,
}

impl<K: Kind> Clone for Backlog<K> {
    fn clone(&self) -> Self {
        let Self { objects, queue, limit, scope, state } = self;
        let (objects, queue, scope, state) = (objects.clone(), queue.clone(), scope.clone(), state.clone());
        Self { objects, queue, limit: *limit, scope, state }
    }
}

#[derive(Default)]
struct State {
    /// The changed objects of a list that is not complete.
    listed: BTreeSet<ObjectKey>,
    waiting: BTreeSet<ObjectKey>,
    /// In the queue, or being reconciled.
    queued: HashSet<ObjectKey>,
}

impl<K: Kind> Backlog<K> {
    /// `objects` are those of the controller, and `queue` gets the ones to reconcile, as many as can be reconciled
    /// concurrently; all at once if `concurrency` is 0.
    pub fn new(objects: Store<K>, queue: UnboundedSender<ObjectKey>, concurrency: u16, scope: Scope) -> Self {
        let limit = if concurrency == 0 { usize::MAX } else { concurrency.into() };
        Self { objects, queue, limit, scope, state: Arc::default() }
    }

    /// Notes an event that the store of `objects` has received. Returns `true` if it is a change to reconcile now.
    pub fn note(&self, event: &Event<K>) -> bool {
        match event {
            Event::Init => self.state().listed.clear(),
            // The store still has the versions before this list, which were reconciled, by this replica if it had the
            // object then.
            Event::InitApply(object)
                if self.version(&key(object.meta())) != object.meta().resource_version
                    || self.scope.is_new(object.meta()) =>
            {
                self.state().listed.insert(key(object.meta()));
            }
            Event::InitApply(_) => {}
            Event::InitDone => {
                let mut state = self.state();
                let mut listed = std::mem::take(&mut state.listed);
                state.waiting.append(&mut listed);
                // kube does not reconcile an object that is gone.
                state.queued.retain(|name| self.version(name).is_some());
                self.fill(&mut state);
            }
            Event::Apply(object) => drop(self.state().waiting.remove(&key(object.meta()))),
            Event::Delete(object) => self.leave(&key(object.meta())),
        }
        matches!(event, Event::Apply(_) | Event::Delete(_))
    }

    /// Makes room for another object when the value is dropped, after a reconcile of this one.
    pub fn entry(&self, object: &K) -> Entry<K> {
        Entry { backlog: self.clone(), name: key(object.meta()) }
    }

    fn leave(&self, name: &ObjectKey) {
        let mut state = self.state();
        if state.queued.remove(name) {
            self.fill(&mut state);
        }
    }

    fn fill(&self, state: &mut State) {
        while state.queued.len() < self.limit
            && let Some(name) = state.waiting.pop_first()
        {
            if self.version(&name).is_some() {
                state.queued.insert(name.clone());
                // Fails only while the controller ends.
                let _ = self.queue.unbounded_send(name);
            }
        }
    }

    /// The `resourceVersion` of an object; `None` if the store does not have it.
    fn version(&self, (namespace, name): &ObjectKey) -> Option<String> {
        let object = self.objects.get(&reference(namespace.as_deref(), name))?;
        Some(object.meta().resource_version.clone().unwrap_or_default())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An object that is being reconciled.
pub(super) struct Entry<K: Kind> {
    backlog: Backlog<K>,
    name: ObjectKey,
}

impl<K: Kind> Drop for Entry<K> {
    fn drop(&mut self) {
        self.backlog.leave(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use futures::channel::mpsc::{UnboundedReceiver, unbounded};
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::runtime::reflector::store;
    use kube::runtime::reflector::store::Writer;

    use super::*;

    struct Controller {
        backlog: Backlog<ConfigMap>,
        writer: Writer<ConfigMap>,
        queue: UnboundedReceiver<ObjectKey>,
    }

    impl Controller {
        fn of(concurrency: u16) -> Self {
            let ((objects, writer), (sender, queue)) = (store(), unbounded());
            Self { backlog: Backlog::new(objects, sender, concurrency, Scope::default()), writer, queue }
        }

        fn note(&mut self, event: Event<ConfigMap>) -> bool {
            self.writer.apply_watcher_event(&event);
            self.backlog.note(&event)
        }

        fn list(&mut self, objects: &[ConfigMap]) {
            self.note(Event::Init);
            for object in objects {
                assert!(!self.note(Event::InitApply(object.clone())));
            }
            self.note(Event::InitDone);
        }

        fn queued(&mut self) -> Vec<String> {
            std::iter::from_fn(|| self.queue.try_recv().ok()).map(|(_, name)| name).collect()
        }

        /// The object is reconciled; returns the names that enter the queue then.
        fn reconciled(&mut self, object: &ConfigMap) -> Vec<String> {
            drop(self.backlog.entry(object));
            self.queued()
        }
    }

    fn object(name: &str, version: &str) -> ConfigMap {
        let mut object = ConfigMap::default();
        object.metadata.name = Some(name.into());
        object.metadata.resource_version = Some(version.into());
        object
    }

    #[test]
    fn a_list_is_reconciled_as_reconciles_end_and_changes_at_once() {
        let mut controller = Controller::of(2);
        let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|name| object(name, "1"));
        controller.list(&[a.clone(), b.clone(), c.clone(), d.clone(), e.clone()]);
        assert_eq!(controller.queued(), ["a", "b"]);
        assert!(controller.note(Event::Apply(object("d", "2"))), "before `c`");
        assert_eq!(controller.reconciled(&d), [""; 0], "it did not enter the queue from the list");
        assert_eq!(controller.reconciled(&a), ["c"]);
        assert!(controller.note(Event::Delete(b)));
        assert_eq!(controller.queued(), ["e"], "`d` is not reconciled again");
        assert_eq!(controller.reconciled(&c), [""; 0]);
        assert_eq!(controller.reconciled(&e), [""; 0]);
    }

    #[test]
    fn another_list_reconciles_only_what_has_changed() {
        let mut controller = Controller::of(1);
        let [a, b, c] = ["a", "b", "c"].map(|name| object(name, "1"));
        controller.list(&[a, b.clone(), c.clone()]);
        assert_eq!(controller.queued(), ["a"]);
        // `a` was deleted while no watch ran, so its reconcile never starts.
        controller.list(&[b.clone(), object("c", "2"), object("d", "2")]);
        assert_eq!(controller.queued(), ["b"]);
        assert_eq!(controller.reconciled(&b), ["c"]);
        assert_eq!(controller.reconciled(&c), ["d"]);
        controller.list(&[b, object("c", "2"), object("d", "2")]);
        assert_eq!(controller.queued(), [""; 0]);
    }

    #[test]
    fn without_a_limit_a_list_is_queued_at_once() {
        let mut controller = Controller::of(0);
        controller.list(&["a", "b", "c"].map(|name| object(name, "1")));
        assert_eq!(controller.queued(), ["a", "b", "c"]);
    }
}
