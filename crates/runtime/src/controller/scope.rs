//! The objects that the controllers of this replica reconcile: all, or those of the replica's slots.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::StreamExt;
use futures::stream::BoxStream;
use kube::Resource;
use kube::api::ObjectMeta;
use kube::runtime::watcher::{self, Event};

#[cfg(feature = "shards")]
use super::Kind;
use crate::Context;
#[cfg(feature = "shards")]
use crate::apply::is_namespaced;
#[cfg(feature = "shards")]
use crate::manager;
#[cfg(feature = "shards")]
use crate::shards::{Running, ShardBy, Share};

/// The scope of one controller. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Scope {
    /// `None` for all objects.
    #[cfg(feature = "shards")]
    share: Option<Share>,
}

/// The objects of a watch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Watched {
    /// Those that the controller reconciles.
    Objects,
    /// Those that objects of this kind own.
    Children(OwnerKind),
}

/// The group and kind of owners.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct OwnerKind {
    group: &'static str,
    kind: &'static str,
}

impl OwnerKind {
    /// Leaks the names, once for each watch, which lives as long as the process.
    pub fn of<K: Resource<DynamicType = ()>>() -> Self {
        Self { group: K::group(&()).into_owned().leak(), kind: K::kind(&()).into_owned().leak() }
    }

    /// `true` if the owner is of this kind.
    #[cfg(feature = "shards")]
    pub fn is(&self, owner: &k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference) -> bool {
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        owner.kind == self.kind && group == self.group
    }
}

/// The events of a watch within the scope.
pub(super) struct Events<T> {
    pub events: BoxStream<'static, watcher::Result<Event<T>>>,
    /// The generation of the replica's slots that the current list covers; always 0 without slots.
    pub generation: Generation,
}

/// A generation of the replica's slots, shared by a watch and its consumers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Generation(Arc<AtomicU64>);

impl Generation {
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    #[cfg(feature = "shards")]
    pub fn set(&self, generation: u64) {
        self.0.store(generation, Ordering::SeqCst);
    }
}

impl Scope {
    pub fn of(ctx: &Context) -> Self {
        #[cfg(not(feature = "shards"))]
        let _ = ctx;
        Self {
            #[cfg(feature = "shards")]
            share: ctx.slots.clone().map(Share::new),
        }
    }

    /// Checks that the replicas can share objects of kind `K`.
    ///
    /// # Errors
    ///
    /// If the namespace of an object decides its replica, and the kind has none.
    #[cfg(feature = "shards")]
    pub fn check<K: Kind>(&self) -> Result<(), manager::Error> {
        if let Some(share) = &self.share
            && share.slots.by == ShardBy::Namespace
            && !is_namespaced::<K>()
        {
            return Err(manager::Error::ShardByNamespace(K::kind(&()).into_owned()));
        }
        Ok(())
    }

    /// Watches the objects in scope. `start` starts a watch with a context and a configuration that may already select
    /// them; `is_known` is `true` for objects whose events are of interest although they are out of scope.
    pub fn watch<T, S>(
        &self,
        ctx: &Context,
        watched: Watched,
        config: watcher::Config,
        start: impl Fn(&Context, watcher::Config) -> S + Send + Sync + 'static,
        is_known: impl Fn(&T) -> bool + Send + Sync + 'static,
    ) -> Events<T>
    where
        T: Resource<DynamicType = ()> + Send + 'static,
        S: futures::Stream<Item = watcher::Result<Event<T>>> + Send + 'static,
    {
        let generation = Generation::default();
        #[cfg(feature = "shards")]
        if let Some(share) = &self.share {
            let events = share.watch(ctx, watched, config, generation.clone(), start, is_known);
            return Events { events, generation };
        }
        let _ = (watched, is_known);
        Events { events: start(ctx, config).boxed(), generation }
    }

    /// All objects of this generation are listed, and their children too.
    pub fn is_listed(&self, generation: &Generation) {
        #[cfg(feature = "shards")]
        if let Some(share) = &self.share {
            share.listed.set(generation.get());
        }
        let _ = generation;
    }

    /// `true` if an object has come into the scope since the last list, so that another replica may have reconciled it.
    pub fn is_new(&self, object: &ObjectMeta) -> bool {
        #[cfg(feature = "shards")]
        if let Some(share) = &self.share {
            return share.slots.is_new_since(share.listed.get(), object);
        }
        let _ = object;
        false
    }

    /// Begins a reconcile, until the value is dropped. `None` if the object is out of scope, or was not listed since it
    /// came into the scope.
    #[cfg(feature = "shards")]
    pub fn enter(&self, object: &ObjectMeta) -> Option<Option<Running>> {
        match &self.share {
            Some(share) => share.slots.enter(object, share.listed.get()).map(Some),
            None => Some(None),
        }
    }

    /// Begins a write that does not depend on the cache, until the value is dropped. `None` if the object is out of
    /// scope.
    #[cfg(feature = "shards")]
    pub fn enter_unlisted(&self, object: &ObjectMeta) -> Option<Option<Running>> {
        match &self.share {
            Some(share) => share.slots.enter(object, u64::MAX).map(Some),
            None => Some(None),
        }
    }

    /// Begins a reconcile.
    #[cfg(not(feature = "shards"))]
    pub fn enter(&self, _: &ObjectMeta) -> Option<()> {
        Some(())
    }

    /// Begins a write.
    #[cfg(not(feature = "shards"))]
    pub fn enter_unlisted(&self, _: &ObjectMeta) -> Option<()> {
        Some(())
    }
}
