//! Cache of the children of a controller, by owner. Holds only names and versions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, OwnerReference};
use kube::Resource;
use kube::api::{ApiResource, ObjectMeta};
use kube::runtime::watcher::Event;
use tokio::sync::watch;

use super::received::Child;
use super::trigger::{ObjectKey, key};

/// The indices of the kinds that a controller owns, one per watch.
#[derive(Debug, Default)]
pub(crate) struct Owned {
    indices: Mutex<Vec<Arc<Index>>>,
    /// For each index, the generation of the replica's slots that its last complete list covers; `None` without any.
    listed: watch::Sender<Vec<Option<u64>>>,
}

impl Owned {
    /// Adds an index for a watch of objects of kind `C` that are owned by objects of kind `K` and applied by
    /// `field_manager`.
    pub fn watch<K, C>(&self, field_manager: &str) -> Arc<Index>
    where
        K: Resource<DynamicType = ()>,
        C: Resource<DynamicType = ()>,
    {
        let mut indices = self.lock();
        let index = Arc::new(Index {
            owner: ApiResource::erase::<K>(&()),
            child: ApiResource::erase::<C>(&()),
            field_manager: field_manager.to_owned(),
            position: indices.len(),
            listed: self.listed.clone(),
            seen: Mutex::default(),
        });
        self.listed.send_modify(|listed| listed.push(None));
        indices.push(index.clone());
        index
    }

    /// Waits until every watch has completed a list that covers this generation of the replica's slots.
    pub async fn filled(&self, generation: u64) {
        let covers = |listed: &Option<u64>| listed.is_some_and(|listed| listed >= generation);
        // Cannot fail: the sender lives as long as `self`.
        let _ = self.listed.subscribe().wait_for(|listed| listed.iter().all(covers)).await;
    }

    /// The indices of a kind; empty if it is not watched.
    pub fn of<C: Resource<DynamicType = ()>>(&self) -> Vec<Arc<Index>> {
        let (group, kind) = (C::group(&()), C::kind(&()));
        let is_its = |index: &&Arc<Index>| index.child.group == group && index.child.kind == kind;
        self.lock().iter().filter(is_its).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Index>>> {
        self.indices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The children in one watch.
#[derive(Debug)]
pub(crate) struct Index {
    owner: ApiResource,
    child: ApiResource,
    field_manager: String,
    /// Its position in `listed`.
    position: usize,
    listed: watch::Sender<Vec<Option<u64>>>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    children: HashMap<Arc<ObjectKey>, Version>,
    /// Keyed by uid.
    owners: HashMap<Arc<str>, Owner>,
}

#[derive(Debug)]
struct Owner {
    name: String,
    /// Usually one or two.
    children: Vec<Arc<ObjectKey>>,
}

/// The last observed version of a child.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub uid: String,
    pub resource_version: String,
    owner: Arc<str>,
    /// This controller applied the child, and it is not being deleted.
    is_prunable: bool,
    /// The child was seen since the current list began.
    is_listed: bool,
    /// A reconcile waits for a newer version.
    is_awaited: bool,
}

impl Index {
    /// Records an event of a list or watch that covers this generation of the replica's slots, and returns the events to
    /// reconcile: none for a child that was just applied and whose built-in controller will soon change its status, and a
    /// deletion for each child that a new list lacks.
    pub(super) fn note<C: Resource<DynamicType = ()>>(
        &self,
        event: Event<Child<C>>,
        generation: u64,
    ) -> Vec<Event<Child<C>>> {
        let mut seen = self.lock();
        let mut news = Vec::new();
        match &event {
            Event::Init => seen.children.values_mut().for_each(|version| version.is_listed = false),
            Event::InitApply(child) => drop(self.insert(&mut seen, &child.metadata)),
            Event::Apply(child) => {
                if !self.insert(&mut seen, &child.metadata) && child.is_pending() {
                    return news;
                }
            }
            Event::Delete(child) => seen.remove(&key(&child.metadata)),
            Event::InitDone => {
                let gone = seen.children.iter().filter(|(_, version)| !version.is_listed);
                let gone: Vec<Arc<ObjectKey>> = gone.map(|(name, _)| name.clone()).collect();
                for name in gone {
                    news.extend(self.reference(&seen, &name).map(|child| Event::Delete(Child::new(child))));
                    seen.remove(&name);
                }
                self.listed.send_modify(|listed| listed[self.position] = Some(generation));
            }
        }
        news.push(event);
        news
    }

    /// A child with only its name and owner.
    fn reference(&self, seen: &Seen, name: &ObjectKey) -> Option<ObjectMeta> {
        let uid = &seen.children.get(name)?.owner;
        let owner = OwnerReference {
            api_version: self.owner.api_version.clone(),
            kind: self.owner.kind.clone(),
            name: seen.owners.get(uid)?.name.clone(),
            uid: uid.to_string(),
            ..OwnerReference::default()
        };
        let (namespace, name) = name.clone();
        Some(ObjectMeta { namespace, name: Some(name), owner_references: Some(vec![owner]), ..ObjectMeta::default() })
    }

    /// The children of an owner that this controller applied and that are not being deleted.
    pub fn prunable(&self, owner: &str) -> Vec<ObjectKey> {
        let seen = self.lock();
        let names = seen.owners.get(owner).into_iter().flat_map(|owner| &owner.children);
        names
            .filter(|name| seen.children.get(*name).is_some_and(|it| it.is_prunable))
            .map(|name| (**name).clone())
            .collect()
    }

    /// The last observed version of a prunable child.
    pub fn version(&self, owner: &str, name: &ObjectKey) -> Option<Version> {
        let seen = self.lock();
        seen.children.get(name).filter(|it| &*it.owner == owner && it.is_prunable).cloned()
    }

    /// Makes the next version of a child trigger a reconcile in any case. Returns `false` if a newer one than `version`
    /// is known.
    pub fn wait_for_newer(&self, name: &ObjectKey, version: &Version) -> bool {
        let mut seen = self.lock();
        let last = seen.children.get_mut(name).filter(|it| it.resource_version == version.resource_version);
        last.map(|it| it.is_awaited = true).is_some()
    }

    /// `true` if the last observed version of a child has this owner.
    pub fn is_child(&self, owner: &str, name: &ObjectKey) -> bool {
        self.lock().children.get(name).is_some_and(|child| &*child.owner == owner)
    }

    /// `true` if a child of this name is known, though its owner may be another one by now.
    pub fn knows(&self, child: &ObjectMeta) -> bool {
        self.lock().children.contains_key(&key(child))
    }

    /// `true` if `child` is the last observed version.
    pub fn has(&self, child: &ObjectMeta) -> bool {
        let seen = self.lock();
        seen.children.get(&key(child)).is_some_and(|version| {
            Some(&version.uid) == child.uid.as_ref()
                && Some(&version.resource_version) == child.resource_version.as_ref()
        })
    }

    /// Records a child. Returns `true` if a reconcile waits for it.
    fn insert(&self, seen: &mut Seen, child: &ObjectMeta) -> bool {
        let name = Arc::new(key(child));
        let was_awaited = seen.children.get(&name).is_some_and(|old| old.is_awaited);
        seen.remove(&name);
        let Some(owner) = child.owner_references.iter().flatten().find(|owner| self.is_owner(owner)) else {
            return was_awaited;
        };
        let applies = |entry: &ManagedFieldsEntry| {
            entry.manager.as_deref() == Some(&self.field_manager)
                && entry.operation.as_deref() == Some("Apply")
                && entry.subresource.as_deref().unwrap_or_default().is_empty()
        };
        let uid: Arc<str> = match seen.owners.get_key_value(owner.uid.as_str()) {
            Some((uid, _)) => uid.clone(),
            None => owner.uid.as_str().into(),
        };
        let new = || Owner { name: owner.name.clone(), children: Vec::new() };
        let siblings = &mut seen.owners.entry(uid.clone()).or_insert_with(new).children;
        siblings.reserve_exact(1);
        siblings.push(name.clone());
        let version = Version {
            uid: child.uid.clone().unwrap_or_default(),
            resource_version: child.resource_version.clone().unwrap_or_default(),
            owner: uid,
            is_prunable: child.deletion_timestamp.is_none() && child.managed_fields.iter().flatten().any(applies),
            is_listed: true,
            is_awaited: false,
        };
        seen.children.insert(name, version);
        was_awaited
    }

    fn is_owner(&self, owner: &OwnerReference) -> bool {
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        owner.controller == Some(true) && owner.kind == self.owner.kind && group == self.owner.group
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn remove(&mut self, name: &ObjectKey) {
        let Some(version) = self.children.remove(name) else { return };
        if let Some(owner) = self.owners.get_mut(&version.owner) {
            owner.children.retain(|child| **child != *name);
            if owner.children.is_empty() {
                self.owners.remove(&version.owner);
            }
        }
    }
}
