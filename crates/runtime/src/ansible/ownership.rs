//! Handles the requests of a run: sets the owner of created objects, and records them, whatever tasks report.
//!
//! An object is created with its owner in one request. So no object that existed before gets an owner, and none is left
//! without owner if the operator is killed. Other requests are forwarded unchanged.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::response::Parts;
use http::{Method, Request, Response, StatusCode};
use hyper::body::Bytes;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{DynamicObject, GetParams, ObjectMeta, PartialObjectMeta, Patch, PatchParams};
use kube::client::Body;
use kube::{Client, Resource, ResourceExt};
use serde::Deserialize;
use serde_json::{Value, json};

use super::dependents::{OWNER, owners, version};
use super::status::Dependent;
use crate::apply::patch;
use crate::proxy::{Asked, Requests};
use crate::{Context, Error, Result, brief, names};

/// Helm keeps an object with this annotation and the value `keep` on uninstall.
const RESOURCE_POLICY: &str = "helm.sh/resource-policy";
/// An apply with a resource version creates a missing object, but is a conflict if the object exists, since no object
/// has this version.
const NO_VERSION: &str = "1";

/// The object of the run.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    reference: OwnerReference,
    namespace: Option<String>,
}

impl Owner {
    pub fn of<K: Resource<DynamicType = ()>>(object: &K) -> Result<Self> {
        let missing = || Error::new("NotStored", "a run is for an object of the cluster: this one has no uid");
        // `controller` is not set, since it may refer to another controller.
        Ok(Self { reference: object.owner_ref(&()).ok_or_else(missing)?, namespace: object.namespace() })
    }

    fn owns(&self, metadata: &ObjectMeta) -> bool {
        owners(metadata).any(|uid| uid == self.reference.uid)
    }

    /// Kubernetes garbage-collects an object only if its owner is in the same namespace or cluster-scoped.
    fn may_own(&self, namespace: Option<&str>) -> bool {
        self.namespace.is_none() || self.namespace.as_deref() == namespace
    }

    /// Adds the owner to an object unless it is set. Returns `false` if the object must stay without it.
    fn add_to(&self, object: &mut Value, namespace: Option<&str>) -> bool {
        let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return false };
        let parsed: ObjectMeta = serde_json::from_value(metadata.clone().into()).unwrap_or_default();
        if belongs_to_others(&parsed) || self.owns(&parsed) {
            return self.owns(&parsed);
        }
        if self.may_own(namespace) {
            let mut all = parsed.owner_references.unwrap_or_default();
            all.push(self.reference.clone());
            metadata.insert("ownerReferences".to_owned(), json!(all));
        } else {
            let mut all = parsed.annotations.unwrap_or_default();
            all.insert(OWNER.to_owned(), self.reference.uid.clone());
            metadata.insert("annotations".to_owned(), json!(all));
        }
        true
    }
}

/// `true` if the object is deleted by its controller, or must be kept.
fn belongs_to_others(metadata: &ObjectMeta) -> bool {
    let is_controlled = metadata.owner_references.iter().flatten().any(|owner| owner.controller == Some(true));
    is_controlled
        || metadata.annotations.iter().flatten().any(|(name, value)| name == RESOURCE_POLICY && value == "keep")
}

/// The effects of a run on the cluster.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The objects that this or an earlier run created, and that this run has read or written.
    pub dependents: Vec<Dependent>,
    /// Objects that Kubernetes does not delete with the object of the run, with reasons.
    pub notes: BTreeSet<String>,
    pub errors: BTreeSet<String>,
}

/// The requests of one run.
pub(super) struct Ownership {
    owner: Owner,
    /// The uids of objects that earlier runs created.
    known: BTreeSet<String>,
    /// The field manager for owner references.
    manager: String,
    findings: Mutex<Findings>,
}

impl Requests for Ownership {
    async fn send(&self, client: &Client, asked: &Asked) -> Result<Response<Body>, kube::Error> {
        self.requested(&Exchange { client, asked }).await
    }
}

/// A request and the client that sends it.
struct Exchange<'a> {
    client: &'a Client,
    asked: &'a Asked,
}

impl Exchange<'_> {
    fn is_apply(&self) -> bool {
        let content_type = self.asked.head.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        self.asked.head.method == Method::PATCH
            && content_type.is_some_and(|it| it.starts_with(b"application/apply-patch"))
    }

    /// `true` for a dry run, or a review, which is not stored and must have no metadata.
    fn writes_nothing(&self) -> bool {
        self.asked.head.uri.query().is_some_and(|query| query.contains("dryRun="))
            || ["authentication.k8s.io", "authorization.k8s.io"].contains(&&*self.asked.target.group)
    }

    async fn read(&self, request: Request<Body>) -> Result<(Parts, Bytes), kube::Error> {
        let (head, body) = self.client.send(request).await?.into_parts();
        Ok((head, body.collect_bytes().await?))
    }

    /// The current object with its kind, which a metadata request would not return; `None` if it does not exist or
    /// cannot be read.
    async fn now(&self) -> Option<Written> {
        let name = self.asked.target.name.as_deref()?;
        let request = kube::core::Request::new(self.asked.collection()).get(name, &GetParams::default()).ok()?;
        serde_json::from_str(&self.client.request_text(request).await.ok()?).ok()
    }
}

impl Ownership {
    pub fn new(owner: Owner, known: &[Dependent], ctx: &Context) -> Self {
        Self {
            owner,
            known: known.iter().map(|it| it.uid.clone()).collect(),
            manager: names::field_manager(&ctx.field_manager, "owner"),
            findings: Mutex::default(),
        }
    }

    pub fn findings(&self) -> MutexGuard<'_, Findings> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn requested(&self, exchange: &Exchange<'_>) -> Result<Response<Body>, kube::Error> {
        let Exchange { client, asked } = exchange;
        let Asked { head, target, .. } = asked;
        let is_write = head.method != Method::GET && head.method != Method::HEAD;
        if exchange.writes_nothing() {
            return client.send(asked.unchanged()).await;
        }
        if target.subresource().is_some() {
            let response = client.send(asked.unchanged()).await?;
            // A subresource such as `scale` changes the object.
            if is_write && head.method != Method::POST && response.status().is_success() {
                self.note(exchange, exchange.now().await, false).await;
            }
            return Ok(response);
        }
        match (&head.method, target.name.is_some()) {
            (&Method::POST, false) => {
                let request = self.created_with_owner(asked, None).unwrap_or_else(|| asked.unchanged());
                self.noted(exchange, json_please(request)).await
            }
            (&Method::PATCH, true) if exchange.is_apply() => self.apply(exchange).await,
            (&Method::PUT, true) => {
                // An update without the owner reference would remove it.
                let is_ours = exchange.now().await.is_some_and(|live| self.owner.owns(&live.metadata));
                let request = is_ours.then(|| self.created_with_owner(asked, None)).flatten();
                self.noted(exchange, json_please(request.unwrap_or_else(|| asked.unchanged()))).await
            }
            (&Method::PATCH, true) => self.noted(exchange, json_please(asked.unchanged())).await,
            (&Method::GET, true) => self.noted(exchange, asked.unchanged()).await,
            (&Method::DELETE, true) => {
                let (response, body) = exchange.read(asked.unchanged()).await?;
                let gone = serde_json::from_slice::<Deleted>(&body).ok().filter(|_| response.status.is_success());
                if let Some(uid) = gone.and_then(|gone| gone.details.uid.or(gone.metadata.uid)) {
                    self.findings().dependents.retain(|it| it.uid != uid);
                }
                Ok(Response::from_parts(response, Body::from(body)))
            }
            _ => client.send(asked.unchanged()).await,
        }
    }

    /// Creates a missing object with its owner. An existing object keeps its owners, whatever is applied.
    async fn apply(&self, exchange: &Exchange<'_>) -> Result<Response<Body>, kube::Error> {
        let asked = exchange.asked;
        match exchange.now().await {
            Some(live) => self.note(exchange, Some(live), false).await,
            None => {
                if let Some(request) = self.created_with_owner(asked, Some(NO_VERSION)) {
                    let (response, body) = exchange.read(json_please(request)).await?;
                    if response.status != StatusCode::CONFLICT {
                        return Ok(self.observed(exchange, response, body).await);
                    }
                    // Another client has created it in the meantime.
                }
            }
        }
        self.noted(exchange, json_please(asked.unchanged())).await
    }

    fn created_with_owner(&self, asked: &Asked, version: Option<&str>) -> Option<Request<Body>> {
        let mut object: Value = serde_json::from_slice(&asked.body).ok()?;
        if !self.owner.add_to(&mut object, asked.target.namespace.as_deref()) {
            return None;
        }
        if let Some(version) = version {
            object["metadata"]["resourceVersion"] = version.into();
        }
        Some(asked.with(object.to_string().into()))
    }

    /// Sends a request, and records the object in the response.
    async fn noted(&self, exchange: &Exchange<'_>, request: Request<Body>) -> Result<Response<Body>, kube::Error> {
        let (response, body) = exchange.read(request).await?;
        Ok(self.observed(exchange, response, body).await)
    }

    async fn observed(&self, exchange: &Exchange<'_>, response: Parts, body: Bytes) -> Response<Body> {
        if response.status.is_success() {
            let is_created = response.status == StatusCode::CREATED;
            self.note(exchange, serde_json::from_slice(&body).ok(), is_created).await;
        }
        Response::from_parts(response, Body::from(body))
    }

    /// Records an object if this or an earlier run created it.
    async fn note(&self, exchange: &Exchange<'_>, written: Option<Written>, is_created: bool) {
        let Some(Written { api_version, kind, mut metadata }) = written else { return };
        let (Some(name), Some(uid)) = (metadata.name.clone(), metadata.uid.clone()) else { return };
        let is_ours =
            self.owner.owns(&metadata) || (is_created || self.known.contains(&uid)) && !belongs_to_others(&metadata);
        // A role may write to the object of the run.
        if !is_ours || uid == self.owner.reference.uid {
            return;
        }
        let namespace = exchange.asked.target.namespace.clone();
        let shown = format!("{kind} {name}");
        if !self.owner.owns(&metadata) || exchange.is_apply() && !self.holds(&metadata) {
            match self.own(exchange, &api_version, &kind, &metadata).await {
                Ok(Some(owned)) => metadata = owned,
                Ok(None) => return,
                Err(error) => {
                    let error = format!("cannot set the owner of {shown}: {}", brief(&error));
                    self.findings().errors.insert(error);
                    return;
                }
            }
        }
        let version = version(&metadata);
        let dependent = Dependent { api_version, kind, namespace, name, uid, version };
        let mut findings = self.findings();
        if !self.owner.may_own(dependent.namespace.as_deref()) {
            findings.notes.insert(format!("{shown} is in another namespace, or in none"));
        }
        findings.dependents.retain(|other| !other.is(&dependent));
        findings.dependents.push(dependent);
    }

    /// `true` if the operator manages the owner reference, too. Otherwise the next apply of a task would remove it.
    fn holds(&self, metadata: &ObjectMeta) -> bool {
        metadata.managed_fields.iter().flatten().any(|entry| entry.manager.as_ref() == Some(&self.manager))
    }

    /// Sets the owner with a field manager of the operator, so that an apply of the role does not remove it. `None` if
    /// the object does not exist.
    async fn own(
        &self,
        Exchange { client, asked }: &Exchange<'_>,
        api_version: &str,
        kind: &str,
        metadata: &ObjectMeta,
    ) -> Result<Option<ObjectMeta>, kube::Error> {
        let name = metadata.name.as_deref().unwrap_or_default();
        // The uid prevents a deleted object from being created again.
        let mut body = json!({
            "apiVersion": api_version, "kind": kind, "metadata": { "name": name, "uid": metadata.uid },
        });
        self.owner.add_to(&mut body, asked.target.namespace.as_deref());
        let params = PatchParams::apply(&self.manager).force();
        match patch(client, asked.collection(), name, None, &params, &Patch::Apply(body)).await {
            Err(kube::Error::Api(gone)) if gone.code == 404 || gone.code == 409 => Ok(None),
            text => {
                let owned = serde_json::from_str::<PartialObjectMeta<DynamicObject>>(&text?);
                Ok(Some(owned.map_err(kube::Error::SerdeError)?.metadata))
            }
        }
    }
}

/// Requests JSON, since the response is parsed here, whatever the client accepts.
fn json_please(mut request: Request<Body>) -> Request<Body> {
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
    request
}

/// An object in a response of the API server.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    api_version: String,
    kind: String,
    metadata: ObjectMeta,
}

/// The response to a deletion: a status, or the object being deleted.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Deleted {
    metadata: Identified,
    details: Identified,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Identified {
    uid: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_is_added_where_kubernetes_heeds_it_and_nobody_else_owns_the_object() {
        let reference: OwnerReference =
            serde_json::from_value(json!({ "apiVersion": "e.com/v1", "kind": "Page", "name": "a", "uid": "1" }))
                .unwrap();
        let owner = Owner { reference: reference.clone(), namespace: Some("web".to_owned()) };
        let added = |metadata: Value, namespace: Option<&str>| {
            let mut object = json!({ "kind": "ConfigMap", "metadata": metadata });
            let is_added = owner.add_to(&mut object, namespace);
            (is_added, object["metadata"].take())
        };
        let other = json!({ "apiVersion": "v1", "kind": "Pod", "name": "b", "uid": "2" });
        let own = json!(reference);
        let both = json!({ "name": "x", "ownerReferences": [other, own] });
        assert_eq!(added(json!({ "name": "x", "ownerReferences": [other] }), Some("web")), (true, both.clone()));
        assert_eq!(added(both.clone(), Some("web")), (true, both));
        let annotated = json!({ "annotations": { "opctl-runtime/owner": "1", "a": "b" } });
        for namespace in [Some("shop"), None] {
            assert_eq!(added(json!({ "annotations": { "a": "b" } }), namespace), (true, annotated.clone()));
        }
        let mut controller = other;
        controller["controller"] = true.into();
        for others in [
            json!({ "ownerReferences": [controller] }),
            json!({ "annotations": { "helm.sh/resource-policy": "keep" } }),
        ] {
            assert_eq!(added(others.clone(), Some("web")), (false, others));
        }
        let cluster_wide = Owner { namespace: None, ..owner.clone() };
        assert!(cluster_wide.may_own(Some("web")) && cluster_wide.may_own(None) && !owner.may_own(None));
        assert!(!owner.add_to(&mut json!([]), None));
    }
}
