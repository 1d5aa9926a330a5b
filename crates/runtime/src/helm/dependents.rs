//! Watches the objects of releases: a change triggers a reconcile of the object that owns the release.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::channel::mpsc::UnboundedSender;
use kube::api::{Api, ApiResource, DynamicObject, PartialObjectMeta};
use kube::runtime::watcher;
use kube::{Resource, ResourceExt};

use super::manifest::{MANAGED_BY, RELEASE_NAME, RELEASE_NAMESPACE};
use super::release::Id;
use crate::Context;
use crate::controller::{ObjectKey, watch};

/// The releases with watched objects, and the watches.
#[derive(Debug, Default)]
pub(super) struct Dependents {
    releases: Mutex<HashMap<Id, (UnboundedSender<ObjectKey>, ObjectKey)>>,
    /// By kind, and namespace or `None` for all namespaces.
    watches: Mutex<HashSet<(ApiResource, Option<String>)>>,
}

impl Dependents {
    /// Makes changes of the objects of this release trigger a reconcile of `object`.
    pub fn track(&self, id: &Id, object: &impl ResourceExt, ctx: &Context) {
        let name = (object.namespace(), object.name_any());
        self.releases().insert(id.clone(), (ctx.trigger.sender(), name));
    }

    pub fn forget(&self, id: &Id) {
        self.releases().remove(id);
    }

    /// Watches the objects of a kind, unless they are watched already.
    pub fn watch(&self, resource: &ApiResource, namespace: Option<&str>, ctx: &Context) {
        let key = (resource.clone(), namespace.map(str::to_owned));
        let is_new = self.watches.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        if is_new {
            let api: Api<PartialObjectMeta<DynamicObject>> = match namespace {
                Some(namespace) => Api::namespaced_with(ctx.client.clone(), namespace, resource),
                None => Api::all_with(ctx.client.clone(), resource),
            };
            let config = watcher::Config::default().labels(&format!("{MANAGED_BY}=Helm"));
            let (what, helm) = (format!("{} of releases", resource.kind), Arc::clone(&ctx.helm));
            tokio::spawn(watch(what, api, config, ctx.shutdown(), move |object, _| helm.dependents.changed(object)));
        }
    }

    fn changed(&self, object: &impl Resource) {
        let annotation = |name: &str| object.meta().annotations.as_ref()?.get(name).cloned();
        let (Some(name), Some(namespace)) = (annotation(RELEASE_NAME), annotation(RELEASE_NAMESPACE)) else { return };
        if let Some((sender, name)) = self.releases().get(&Id { namespace, name }) {
            // An error means that the controller has stopped.
            let _ = sender.unbounded_send(name.clone());
        }
    }

    fn releases(&self) -> MutexGuard<'_, HashMap<Id, (UnboundedSender<ObjectKey>, ObjectKey)>> {
        self.releases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
