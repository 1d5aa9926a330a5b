//! The objects that runs created: they are watched, and compared with their recorded versions.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::channel::mpsc::UnboundedSender;
use futures::{StreamExt, stream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::api::{Api, ApiResource, DynamicObject, GetParams, ObjectMeta, PartialObjectMeta, Request};
use kube::core::GroupVersionKind;
use kube::runtime::watcher;
use kube::{Resource, ResourceExt};
use serde_json::json;

use super::controller::Settings;
use super::status::Dependent;
use crate::controller::{ObjectKey, watch};
use crate::digest::{canonical, digest};
use crate::{Context, Result};

/// Annotation with the uid of the owner, for objects that cannot have an owner reference.
pub(super) const OWNER: &str = "opctl-runtime/owner";
/// The maximum number of concurrent requests for one object.
const REQUESTS: usize = 4;

/// The uids of the owners of an object, by reference or annotation.
pub(super) fn owners(metadata: &ObjectMeta) -> impl Iterator<Item = &str> {
    let annotated = metadata.annotations.as_ref().and_then(|all| all.get(OWNER)).map(String::as_str);
    metadata.owner_references.iter().flatten().map(|owner| owner.uid.as_str()).chain(annotated)
}

/// The managed fields of the object itself, without those of its status.
fn writes(metadata: &ObjectMeta) -> impl Iterator<Item = &ManagedFieldsEntry> {
    metadata.managed_fields.iter().flatten().filter(|entry| entry.subresource.as_deref() != Some("status"))
}

/// A digest that changes with every write to an object, except for writes to its status.
pub(super) fn version(metadata: &ObjectMeta) -> String {
    let writes: Vec<_> = writes(metadata)
        .map(|entry| json!([entry.manager, entry.operation, entry.time, entry.fields_v1]))
        .map(|entry| canonical(&entry))
        .collect();
    let mut known = json!([metadata.generation, metadata.deletion_timestamp, writes]);
    if writes.is_empty() {
        known = json!(metadata.resource_version);
    }
    let mut text = digest([known.to_string()]);
    text.truncate(16);
    text
}

impl Dependent {
    fn gvk(&self) -> GroupVersionKind {
        let (group, version) = self.api_version.split_once('/').unwrap_or(("", &self.api_version));
        GroupVersionKind::gvk(group, version, &self.kind)
    }

    /// `true` if both identify the same object. The uid may differ after it was recreated.
    pub(super) fn is(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.gvk().group, it.kind.clone(), it.namespace.clone(), it.name.clone());
        key(self) == key(other)
    }

    /// `true` if a change of the object causes a run.
    pub(super) fn is_watched(&self, settings: &Settings) -> bool {
        let is_left =
            settings.unwatched.iter().any(|(version, kind)| *version == self.api_version && *kind == self.kind);
        settings.watches_dependents && !is_left && (self.namespace.is_some() || settings.watches_cluster_scoped)
    }

    /// The current object; `None` if it was deleted or recreated.
    async fn now(&self, ctx: &Context) -> Result<Option<Self>> {
        let (resource, _) = match ctx.kinds.get(&ctx.client, &self.gvk()).await {
            Ok(known) => known,
            // If the CRD does not exist, neither does the object.
            Err(error) if matches!(error.request(), Some(kube::Error::Api(status)) if status.code == 404) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let url = DynamicObject::url_path(&resource, self.namespace.as_deref());
        let request = Request::new(url).get_metadata(&self.name, &GetParams::default());
        let text = match ctx.client.request_text(request.map_err(kube::Error::BuildRequest)?).await {
            Err(kube::Error::Api(gone)) if gone.is_not_found() => return Ok(None),
            text => text?,
        };
        let metadata = serde_json::from_str::<PartialObjectMeta<DynamicObject>>(&text)?.metadata;
        let is_same = metadata.uid.as_deref() == Some(&self.uid);
        Ok(is_same.then(|| Self { version: version(&metadata), ..self.clone() }))
    }
}

/// The current versions of these objects, without deleted ones.
pub(super) async fn refreshed(dependents: &[Dependent], ctx: &Context) -> Result<Vec<Dependent>> {
    let now = stream::iter(dependents.to_vec()).map(|it| async move { it.now(ctx).await });
    let all: Vec<Result<Option<Dependent>>> = now.buffered(REQUESTS).collect().await;
    all.into_iter().filter_map(Result::transpose).collect()
}

/// The objects with watched dependents, and the watches.
#[derive(Debug, Default)]
pub(super) struct Dependents {
    /// By the uid of the owner.
    owners: Mutex<HashMap<String, Tracked>>,
    /// By kind, and namespace or `None` for all namespaces.
    watches: Mutex<HashSet<(ApiResource, Option<String>)>>,
}

#[derive(Debug)]
struct Tracked {
    sender: UnboundedSender<ObjectKey>,
    name: ObjectKey,
    /// The versions of its dependents by uid.
    versions: HashMap<String, String>,
}

impl Dependents {
    /// Makes changes of these dependents trigger a reconcile of the object.
    pub async fn track(
        &self,
        object: &impl ResourceExt,
        dependents: &[Dependent],
        settings: &Settings,
        ctx: &Context,
    ) -> Result<()> {
        let watched: Vec<_> = dependents.iter().filter(|it| it.is_watched(settings)).collect();
        let versions = watched.iter().map(|it| (it.uid.clone(), it.version.clone())).collect();
        let name = (object.namespace(), object.name_any());
        let tracked = Tracked { sender: ctx.trigger.sender(), name, versions };
        self.owners().insert(object.uid().unwrap_or_default(), tracked);
        for dependent in watched {
            let (resource, _) = ctx.kinds.get(&ctx.client, &dependent.gvk()).await?;
            let within = ctx.namespace().filter(|within| dependent.namespace.as_deref() == Some(*within));
            self.watch(&resource, within, ctx);
        }
        Ok(())
    }

    pub fn forget(&self, uid: &str) {
        self.owners().remove(uid);
    }

    /// Watches the objects of a kind, unless they are watched already.
    fn watch(&self, resource: &ApiResource, namespace: Option<&str>, ctx: &Context) {
        let key = (resource.clone(), namespace.map(str::to_owned));
        if !self.watches.lock().unwrap_or_else(PoisonError::into_inner).insert(key) {
            return;
        }
        let api: Api<PartialObjectMeta<DynamicObject>> = match namespace {
            Some(namespace) => Api::namespaced_with(ctx.client.clone(), namespace, resource),
            None => Api::all_with(ctx.client.clone(), resource),
        };
        let (what, ansible) = (format!("{} of runs", resource.kind), Arc::clone(&ctx.ansible));
        let changed = move |object: &PartialObjectMeta<DynamicObject>, is_deleted| {
            ansible.dependents.changed(&object.metadata, is_deleted);
        };
        tokio::spawn(watch(what, api, watcher::Config::default(), ctx.shutdown(), changed));
    }

    fn changed(&self, metadata: &ObjectMeta, is_deleted: bool) {
        let Some(uid) = &metadata.uid else { return };
        let all = self.owners();
        for Tracked { sender, name, versions } in owners(metadata).filter_map(|owner| all.get(owner)) {
            if versions.get(uid).is_some_and(|known| is_deleted || *known != version(metadata)) {
                // An error means that the controller has stopped.
                let _ = sender.unbounded_send(name.clone());
            }
        }
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<String, Tracked>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// The field manager of the Python client of Kubernetes.
    const PYTHON: &str = "OpenAPI-Generator";

    fn metadata(created: &str, managers: &[(&str, &str, &str)]) -> ObjectMeta {
        let managers: Vec<Value> = managers
            .iter()
            .map(|(manager, time, subresource)| {
                json!({ "manager": manager, "operation": "Update", "time": time, "fieldsV1": {},
                    "subresource": Some(*subresource).filter(|it| !it.is_empty()) })
            })
            .collect();
        let json = json!({ "name": "a", "uid": "u", "creationTimestamp": created, "managedFields": managers });
        serde_json::from_value(json).unwrap()
    }

    fn at(minute: u32) -> String {
        format!("2026-01-01T00:{minute:02}:00Z")
    }

    #[test]
    fn the_status_does_not_count_as_a_change() {
        let before = version(&metadata(&at(1), &[(PYTHON, &at(1), "")]));
        let status = metadata(&at(1), &[(PYTHON, &at(1), ""), ("controller", &at(2), "status")]);
        assert_eq!(version(&status), before);
        for changed in [
            metadata(&at(1), &[(PYTHON, &at(2), "")]),
            metadata(&at(1), &[(PYTHON, &at(1), ""), ("kubectl", &at(2), "")]),
            metadata(&at(1), &[(PYTHON, &at(1), ""), ("kubectl", &at(2), "scale")]),
            ObjectMeta { generation: Some(2), ..metadata(&at(1), &[(PYTHON, &at(1), "")]) },
        ] {
            assert_ne!(version(&changed), before, "{changed:?}");
        }
        let without = |version: &str| ObjectMeta { resource_version: Some(version.into()), ..ObjectMeta::default() };
        assert_ne!(version(&without("1")), version(&without("2")));
    }
}
