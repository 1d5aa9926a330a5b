//! The children of an object: applies them, prunes those that are no longer applied, and sums up their readiness.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, OwnerReference};
use kube::api::{Api, DeleteParams, GetParams, PartialObjectMeta, Preconditions, Request};
use kube::{Resource, ResourceExt};
use serde_json::Value;
use tracing::{debug, info};

use super::owned::Index;
use super::readiness::{Readiness, outline, readiness};
use super::received::{Child, decode};
use super::trigger::ObjectKey;
use super::{Kind, Outcome};
use crate::apply::{api_for, apply_text, is_namespaced};
use crate::{Context, Error, Result, conditions};

/// The children of an object: the objects that its controller applies for it.
///
/// Each child has an owner reference to the object, so Kubernetes garbage-collects it with the object. A controller
/// that [`owns`](crate::Controller::owns) the kind reverts changes that others make to it.
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
}

#[derive(Debug)]
struct Owner {
    kind: String,
    name: String,
    namespace: Option<String>,
    uid: String,
    reference: Option<OwnerReference>,
}

/// Identifies a child of an owner.
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
}

/// A child as it is applied: with owner reference and namespace.
struct Adopted<C> {
    json: Value,
    namespace: Option<String>,
    name: String,
    kind: PhantomData<fn() -> C>,
}

impl<'a> Children<'a> {
    /// Starts with no children of `object` applied.
    pub fn of<K: Resource<DynamicType = ()>>(object: &K, ctx: &'a Context) -> Self {
        let owner = Owner {
            kind: K::kind(&()).into_owned(),
            name: object.name_any(),
            namespace: object.namespace(),
            uid: object.uid().unwrap_or_default(),
            reference: object.controller_owner_ref(&()),
        };
        Self { ctx, owner, applied: BTreeSet::new(), readiness: Vec::new() }
    }

    /// Applies a child by server-side apply with force, and returns the object as the API server stored it.
    ///
    /// The child gets a controller owner reference, and the namespace of the owner unless it names one. An object of
    /// this name that another controller owns is an error; one without a controller is taken over: see
    /// [`apply_unless_taken`](Self::apply_unless_taken).
    ///
    /// # Errors
    ///
    /// If the request fails; `InvalidChild` for a child without a name, one that is applied twice, or one that cannot
    /// have this owner (the children of a namespaced owner are in its namespace); `Undecodable` if the object does not
    /// decode into `C`.
    pub fn apply<C: Kind>(&mut self, child: C) -> impl Future<Output = Result<C>> + Send {
        // Outside of the future, which would otherwise hold the object: a Deployment takes kilobytes, and many requests
        // wait at a time.
        let adopted = self.adopt(child);
        async { self.apply_adopted(adopted?).await }
    }

    /// Like [`apply`](Self::apply), but refuses an existing object that has neither the owner nor all labels of
    /// `child`.
    ///
    /// An object with all labels of `child` is adopted, since `kubectl delete --cascade=orphan` removes the owner from
    /// the children. A `child` without labels adopts nothing. The controller needs the verb `get` too. No extra request
    /// is sent if it [`owns`](crate::Controller::owns) the kind and its watch has seen this child.
    ///
    /// # Errors
    ///
    /// The errors of [`apply`](Self::apply), and `NameTaken` for an object that does not belong to the owner.
    pub fn apply_unless_taken<C: Kind>(&mut self, child: C) -> impl Future<Output = Result<C>> + Send {
        let adopted = self.adopt(child);
        async {
            let adopted = adopted?;
            if self.is_taken(&adopted).await? {
                let (kind, name, owner) = (C::kind(&()), &adopted.name, &self.owner.kind);
                let message =
                    format!("the {kind} `{name}` does not belong to this {owner}: delete it, or choose another name");
                return Err(Error::new("NameTaken", message));
            }
            self.apply_adopted(adopted).await
        }
    }

    /// `true` if an object of the child's name exists that must not be adopted.
    async fn is_taken<C: Kind>(&self, Adopted { json, namespace, name, .. }: &Adopted<C>) -> Result<bool> {
        let Context { client, owned, .. } = self.ctx;
        let (key, uid): (ObjectKey, _) = ((namespace.clone(), name.clone()), self.owner.uid.as_str());
        if owned.of::<C>().iter().any(|index| index.is_child(uid, &key)) {
            return Ok(false);
        }
        let url = C::url_path(&(), key.0.as_deref());
        let request = Request::new(url).get_metadata(name, &GetParams::default());
        let existing = match client.request_text(request.map_err(kube::Error::BuildRequest)?).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(false),
            existing => existing?,
        };
        let existing: PartialObjectMeta<C> = decode(&existing).map_err(|why| undecodable::<C>(name, &why))?;
        let is_ours = |owner: &OwnerReference| owner.controller == Some(true) && owner.uid == uid;
        let (wanted, labels) = (json["metadata"]["labels"].as_object(), existing.labels());
        let has = |(label, value): (&String, &Value)| labels.get(label).map(String::as_str) == value.as_str();
        let has_labels = wanted.is_some_and(|wanted| !wanted.is_empty() && wanted.iter().all(has));
        Ok(!has_labels && !existing.owner_references().iter().any(is_ours))
    }

    async fn apply_adopted<C: Kind>(&mut self, Adopted { json, namespace, name, .. }: Adopted<C>) -> Result<C> {
        let (api_version, kind) = (C::api_version(&()), C::kind(&()));
        let Context { client, field_manager, owned, .. } = self.ctx;
        let url = C::url_path(&(), namespace.as_deref());
        #[cfg(feature = "shards")]
        let json = match &self.ctx.slots {
            Some(slots) => slots.labelled(json, &self.owner.uid),
            None => json,
        };
        let applied = apply_text(field_manager, client, &url, &name, &json).await?;
        let shown = format!("{kind} {name}");
        let metadata = decode::<Child<C>>(&applied).map_err(|why| undecodable::<C>(&name, &why))?.metadata;
        let watches = owned.of::<C>();
        match watches.is_empty() || watches.iter().any(|index| index.has(&metadata)) {
            // Without a watch, it is unknown if the apply changed the object.
            true => debug!("{shown} applied"),
            false => info!("{shown} changed"),
        }
        self.applied.insert(Key::of::<C>(namespace, name.clone()));
        let child = decode(&applied).map_err(|why| undecodable::<C>(&name, &why))?;
        self.readiness.push((shown, readiness(&outline(&api_version, &kind, &applied)?)));
        Ok(child)
    }

    /// Validates a child, and sets its owner and namespace.
    fn adopt<C: Kind>(&self, mut child: C) -> Result<Adopted<C>> {
        let (kind, owner) = (C::kind(&()), &self.owner);
        let invalid = |why: String| Err(Error::new("InvalidChild", why).permanent());
        let Some(name) = child.meta().name.clone() else {
            return invalid(format!("a child of kind {kind} has no name"));
        };
        if is_namespaced::<C>() && child.meta().namespace.is_none() {
            child.meta_mut().namespace.clone_from(&owner.namespace);
        }
        let namespace = child.namespace();
        if owner.namespace.is_some() && namespace != owner.namespace {
            return invalid(format!(
                "{kind} {name} cannot be a child of {} {}: it is not in namespace {}",
                owner.kind,
                owner.name,
                owner.namespace.as_deref().unwrap_or_default(),
            ));
        }
        if is_namespaced::<C>() && namespace.is_none() {
            return invalid(format!("{kind} {name} needs a namespace, since {} {} has none", owner.kind, owner.name));
        }
        if self.applied.contains(&Key::of::<C>(namespace.clone(), name.clone())) {
            return invalid(format!("{kind} {name} is applied twice"));
        }
        child.owner_references_mut().extend(owner.reference.clone());
        let mut json = serde_json::to_value(&child)?;
        json["apiVersion"] = (*C::api_version(&())).into();
        json["kind"] = (*kind).into();
        Ok(Adopted { json, namespace, name, kind: PhantomData })
    }

    /// Deletes the children of kind `C` that an earlier reconcile applied and this one did not. Call it after all
    /// children of the kind are applied; if one of them fails, `?` returns before anything is deleted.
    ///
    /// It deletes only children that this controller's field manager applied, and only of kinds that it
    /// [`owns`](crate::Controller::owns), since it finds them in the cache of that watch. A child whose last change has
    /// not reached the watch is deleted by the next reconcile.
    ///
    /// # Errors
    ///
    /// If a request fails. A child that no longer exists is not an error.
    pub async fn prune<C: Kind>(&mut self) -> Result<()> {
        for index in self.ctx.owned.of::<C>() {
            for name in index.prunable(&self.owner.uid) {
                if !self.applied.contains(&Key::of::<C>(name.0.clone(), name.1.clone())) {
                    self.delete::<C>(&index, &name).await?;
                }
            }
        }
        Ok(())
    }

    /// Deletes a child with a precondition on the last observed version: a later one may belong to another controller.
    async fn delete<C: Kind>(&self, index: &Index, name: &ObjectKey) -> Result<()> {
        let api: Api<Child<C>> = api_for(&self.ctx.client, name.0.as_deref());
        while let Some(version) = index.version(&self.owner.uid, name) {
            let (uid, resource_version) = (Some(version.uid.clone()), Some(version.resource_version.clone()));
            let params = DeleteParams::background().preconditions(Preconditions { uid, resource_version });
            match api.delete(&name.1, &params).await {
                Ok(_) => info!("{} {} deleted", C::kind(&()), name.1),
                Err(kube::Error::Api(status)) if status.is_not_found() => {}
                Err(kube::Error::Api(status)) if status.code == 409 && !index.wait_for_newer(name, &version) => {
                    continue;
                }
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                Err(error) => return Err(error.into()),
            }
            break;
        }
        Ok(())
    }

    /// `true` if the built-in controller of a child, such as that of Deployments, has not observed the applied spec.
    /// Its next status triggers another reconcile; until then, the status of the owner cannot be determined.
    pub fn is_pending(&self) -> bool {
        self.readiness.iter().any(|(_, readiness)| *readiness == Readiness::Unobserved)
    }

    /// The readiness of each child by the rules of kstatus, with `<kind> <name>`.
    pub fn readiness(&self) -> &[(String, Readiness)] {
        &self.readiness
    }

    /// The condition `Ready`: `True` with reason `Available` if all children are current, else `False` with the message
    /// of the first child that failed (`Failed`) or else is in progress (`Progressing`).
    pub fn ready(&self) -> Condition {
        ready_of(&self.readiness, "all children are ready")
    }

    /// The outcome of a reconcile that applied these children: [`ready`](Self::ready), or an unchanged status while one
    /// of them [is pending](Self::is_pending).
    pub fn outcome(&self) -> Outcome {
        if self.is_pending() {
            return Outcome::unchanged();
        }
        let ready = self.ready();
        match ready.reason == FAILED {
            true => Outcome::failed(FAILED, ready.message),
            false => ready.into(),
        }
    }
}

/// The condition `Ready` of an object with these children; `all` is the message if all are ready.
pub(crate) fn ready_of(readiness: &[(String, Readiness)], all: &str) -> Condition {
    let first = |message: fn(&Readiness) -> Option<&str>| {
        let mut found = readiness.iter().filter_map(|(child, it)| Some(format!("{child}: {}", message(it)?)));
        found.next()
    };
    let failed = first(|it| match it {
        Readiness::Failed(why) => Some(why),
        _ => None,
    });
    let progress = first(|it| match it {
        Readiness::InProgress(why) => Some(why),
        Readiness::Unobserved => Some("its controller has not seen it yet"),
        _ => None,
    });
    match (failed, progress) {
        (Some(message), _) => conditions::not_ready(FAILED, message),
        (None, Some(message)) => conditions::not_ready("Progressing", message),
        (None, None) => conditions::ready("Available", all),
    }
}

const FAILED: &str = "Failed";

fn undecodable<C: Kind>(name: &str, why: &str) -> Error {
    Error::new("Undecodable", format!("{} {name} cannot be decoded: {why}", C::kind(&())))
}

#[cfg(test)]
mod tests;
