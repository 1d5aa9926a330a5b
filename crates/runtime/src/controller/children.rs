//! The objects that belong to another one: applied, compared with what was applied before, and waited for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{ApiResource, DeleteParams, DynamicObject, ObjectMeta, Preconditions};
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Outcome;
use super::readiness::{Readiness, readiness};
use crate::apply::{api_for, apply, is_namespaced};
use crate::{Context, Error, Result, conditions};

/// The children of an object: everything that its controller applies for it.
///
/// Each has the object as its owner, so Kubernetes deletes it with the object. A controller that [`owns`](crate::Controller::owns)
/// the kind repairs it when somebody changes it.
///
/// ```
/// # use std::sync::Arc;
/// # use k8s_openapi::api::core::v1::{ConfigMap, Secret};
/// # use opctl_runtime::{Children, Context, Outcome, Result, child_name};
/// async fn reconcile(parent: Arc<ConfigMap>, ctx: Arc<Context>) -> Result<Outcome> {
///     let mut children = Children::of(&*parent, &ctx);
///     if parent.data.is_some() {
///         let mut secret = Secret::default();
///         secret.metadata.name = Some(child_name(&*parent, "copy"));
///         children.apply(secret).await?;
///     }
///     children.prune::<Secret>().await?;
///     Ok(children.outcome())
/// }
/// ```
#[derive(Debug)]
pub struct Children<'a> {
    ctx: &'a Context,
    owner: Owner,
    applied: BTreeSet<Key>,
    readiness: Vec<(String, Readiness)>,
    changes: Vec<String>,
}

#[derive(Debug)]
struct Owner {
    name: String,
    namespace: Option<String>,
    uid: String,
    reference: Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference>,
}

/// Which child of an owner this is.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Key {
    group: String,
    kind: String,
    namespace: Option<String>,
    name: String,
}

impl Key {
    fn of<C: Resource<DynamicType = ()>>(namespace: Option<String>, name: String) -> Self {
        Self { group: C::group(&()).into_owned(), kind: C::kind(&()).into_owned(), namespace, name }
    }

    fn is<C: Resource<DynamicType = ()>>(&self) -> bool {
        self.group == C::group(&()) && self.kind == C::kind(&())
    }
}

impl<'a> Children<'a> {
    /// The children of this object.
    pub fn of<K: Resource<DynamicType = ()>>(object: &K, ctx: &'a Context) -> Self {
        let owner = Owner {
            name: object.name_any(),
            namespace: object.namespace(),
            uid: object.uid().unwrap_or_default(),
            reference: object.controller_owner_ref(&()),
        };
        Self { ctx, owner, applied: BTreeSet::new(), readiness: Vec::new(), changes: Vec::new() }
    }

    /// Applies a child by server-side apply with force, and gives it as it is in the cluster now.
    ///
    /// It becomes a child of the owner by an owner reference, and is in the namespace of the owner unless it names one.
    ///
    /// # Errors
    ///
    /// Of the request; and `InvalidChild` for a child that has no name, or that cannot have this owner: an owner in a namespace has
    /// children in its own namespace only.
    pub async fn apply<C>(&mut self, mut child: C) -> Result<C>
    where
        C: Resource<DynamicType = (), Scope: 'static> + Clone + Debug + DeserializeOwned + Serialize,
    {
        let resource = ApiResource::erase::<C>(&());
        let invalid = |why: String| Error::new("InvalidChild", why).permanent();
        let Some(name) = child.meta().name.clone() else {
            return Err(invalid(format!("a {} of {} has no name", resource.kind, self.owner.name)));
        };
        if is_namespaced::<C>() && child.meta().namespace.is_none() {
            child.meta_mut().namespace.clone_from(&self.owner.namespace);
        }
        let namespace = child.namespace();
        if self.owner.namespace.is_some() && namespace != self.owner.namespace {
            let why = "an object cannot own objects outside of its namespace: Kubernetes would delete them";
            return Err(invalid(format!("{} {name}: {why}", resource.kind)));
        }
        child.owner_references_mut().extend(self.owner.reference.clone());
        let mut json = serde_json::to_value(&child)?;
        json["apiVersion"] = resource.api_version.clone().into();
        json["kind"] = resource.kind.clone().into();

        let api = api_for::<DynamicObject>(&self.ctx.client, namespace.as_deref(), &resource);
        let applied = apply(&self.ctx.field_manager, &api, &name, &json).await?;
        let shown = format!("{} {name}", resource.kind);
        if self.ctx.owned.is_other(&self.owner.uid, &applied.metadata) {
            self.changes.push(shown.clone());
        }
        self.applied.insert(Key::of::<C>(namespace, name));
        let mut applied = serde_json::to_value(applied)?;
        // The API server leaves neither out, and mock ones may.
        applied["apiVersion"] = resource.api_version.into();
        applied["kind"] = resource.kind.into();
        self.readiness.push((shown, readiness(&applied)));
        Ok(serde_json::from_value(applied)?)
    }

    /// Deletes the children of this kind that an earlier reconcile applied and this one did not. Call it once all children of the
    /// kind are applied; a failed `apply` before it returns first, so nothing is deleted then.
    ///
    /// Only children that this controller applied are deleted, and only of kinds that it [`owns`](crate::Controller::owns): its watch
    /// is where they are known from.
    ///
    /// # Errors
    ///
    /// Of the requests. A child that is gone already is none.
    pub async fn prune<C>(&mut self) -> Result<()>
    where
        C: Resource<DynamicType = ()>,
    {
        let resource = ApiResource::erase::<C>(&());
        for (key, uid) in self.ctx.owned.children(&self.owner.uid) {
            if !key.is::<C>() || self.applied.contains(&key) {
                continue;
            }
            let api = api_for::<DynamicObject>(&self.ctx.client, key.namespace.as_deref(), &resource);
            let preconditions = Preconditions { uid: Some(uid), resource_version: None };
            let params = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::background() };
            match api.delete(&key.name, &params).await {
                Ok(_) => self.changes.push(format!("{} {} deleted", resource.kind, key.name)),
                // Gone, or another one by now.
                Err(kube::Error::Api(status)) if status.is_not_found() || status.code == 409 => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether the controller of a child's kind has not seen what was applied. It will, and that is a change which causes another
    /// reconcile: until then, there is nothing to say in the status.
    pub fn is_pending(&self) -> bool {
        self.readiness.iter().any(|(_, readiness)| *readiness == Readiness::Unobserved)
    }

    /// How far each child is, by the rules of kstatus: its kind and name, and its readiness.
    pub fn readiness(&self) -> &[(String, Readiness)] {
        &self.readiness
    }

    /// The condition `Ready`: `True` with reason `Available` if all children are; else the first that failed (`Failed`) or is on its
    /// way (`Progressing`).
    pub fn ready(&self) -> Condition {
        let failed = self.readiness.iter().find_map(|(name, readiness)| match readiness {
            Readiness::Failed(why) => Some((name, why)),
            _ => None,
        });
        if let Some((name, why)) = failed {
            return conditions::not_ready("Failed", format!("{name}: {why}"));
        }
        let progress = self.readiness.iter().find_map(|(name, readiness)| match readiness {
            Readiness::InProgress(why) => Some(format!("{name}: {why}")),
            Readiness::Unobserved => Some(format!("{name}: not observed yet")),
            _ => None,
        });
        match progress {
            Some(message) => conditions::not_ready("Progressing", message),
            None => conditions::ready("Available", "everything that belongs to it is available"),
        }
    }

    /// The outcome of a reconcile that applied these children: [`ready`](Self::ready), and no change of the status while one
    /// [is pending](Self::is_pending).
    pub fn outcome(self) -> Outcome {
        let mut outcome = match self.is_pending() {
            true => Outcome::unchanged(),
            false => self.ready().into(),
        };
        outcome.changes = self.changes;
        outcome
    }
}

/// The children that a controller's watches have seen: their names and versions, by the uid of their owner.
#[derive(Debug, Default)]
pub(crate) struct Owned(Mutex<BTreeMap<String, BTreeMap<Key, Version>>>);

#[derive(Clone, Debug, Default)]
struct Version {
    uid: String,
    resource_version: String,
    /// Whether this controller applied it.
    is_applied: bool,
}

impl Owned {
    fn owners(&self) -> MutexGuard<'_, BTreeMap<String, BTreeMap<Key, Version>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A child was seen.
    pub fn insert<C: Resource<DynamicType = ()>>(&self, child: &ObjectMeta, field_manager: &str) {
        let applies = |it: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry| {
            it.manager.as_deref() == Some(field_manager) && it.operation.as_deref() == Some("Apply")
        };
        let version = Version {
            uid: child.uid.clone().unwrap_or_default(),
            resource_version: child.resource_version.clone().unwrap_or_default(),
            is_applied: child.managed_fields.iter().flatten().any(applies),
        };
        if let Some(owner) = owner_of(child) {
            let key = Key::of::<C>(child.namespace.clone(), child.name.clone().unwrap_or_default());
            self.owners().entry(owner.to_owned()).or_default().insert(key, version);
        }
    }

    /// A child is gone.
    pub fn remove<C: Resource<DynamicType = ()>>(&self, child: &ObjectMeta) {
        let Some(owner) = owner_of(child) else { return };
        let mut owners = self.owners();
        if let Some(children) = owners.get_mut(owner) {
            children.remove(&Key::of::<C>(child.namespace.clone(), child.name.clone().unwrap_or_default()));
            if children.is_empty() {
                owners.remove(owner);
            }
        }
    }

    /// All children of a kind will be seen anew.
    pub fn clear<C: Resource<DynamicType = ()>>(&self) {
        self.owners().retain(|_, children| {
            children.retain(|key, _| !key.is::<C>());
            !children.is_empty()
        });
    }

    /// What this controller applied for an owner, with uids.
    fn children(&self, owner: &str) -> Vec<(Key, String)> {
        let owners = self.owners();
        let children = owners.get(owner).into_iter().flatten().filter(|(_, version)| version.is_applied);
        children.map(|(key, version)| (key.clone(), version.uid.clone())).collect()
    }

    /// Whether this is another version of a child than the one that was seen last.
    fn is_other(&self, owner: &str, child: &ObjectMeta) -> bool {
        let owners = self.owners();
        let mut seen = owners.get(owner).into_iter().flatten();
        !seen.any(|(_, seen)| {
            Some(&seen.uid) == child.uid.as_ref() && Some(&seen.resource_version) == child.resource_version.as_ref()
        })
    }
}

fn owner_of(child: &ObjectMeta) -> Option<&str> {
    let owners = child.owner_references.iter().flatten();
    owners.filter(|owner| owner.controller == Some(true)).map(|owner| owner.uid.as_str()).next()
}
