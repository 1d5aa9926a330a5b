//! A mock API server for unit tests. It responds like an API server or as the test specifies, and records the requests.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{Method, Request, Response, StatusCode, Uri};
use kube::client::Body;
use kube::{Client, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::options;
use super::store::Store;
use crate::client::target::Target;
use crate::{Context, Operator};

/// A request to the API server.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The HTTP method.
    pub method: String,
    /// The path of the URL.
    pub path: String,
    /// The query of the URL; empty if there is none.
    pub query: String,
    /// The type of the body; for a patch, it identifies the kind of patch.
    pub content_type: String,
    /// The body as JSON; null if there is none.
    pub body: Value,
}

impl Call {
    /// `true` if the request is for objects of this kind, or for a subresource of them.
    pub fn is<K: Resource<DynamicType = ()>>(&self) -> bool {
        let target = self.target();
        target.group == K::group(&()) && target.resource.split('/').next() == Some(&*K::plural(&()))
    }

    /// The RBAC verb: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub fn verb(&self) -> &'static str {
        self.target().verb
    }

    /// The name of the object; for `create`, the one in the body.
    pub fn name(&self) -> Option<String> {
        let created = || Some(self.body["metadata"]["name"].as_str()?.to_owned());
        self.target().name.or_else(created)
    }

    /// The subresource, such as `status` or `scale`.
    pub fn subresource(&self) -> Option<String> {
        self.target().subresource().map(str::to_owned)
    }

    pub(super) fn target(&self) -> Target {
        let method = Method::from_bytes(self.method.as_bytes()).unwrap_or_default();
        let uri = format!("{}?{}", self.path, self.query).parse::<Uri>().unwrap_or_default();
        Target::of(&method, &uri)
    }

    pub(super) fn is_apply(&self) -> bool {
        self.content_type == "application/apply-patch+yaml"
    }

    /// `true` if the request has this verb, kind, name and subresource.
    fn asks<K: Resource<DynamicType = ()>>(&self, verb: &str, name: &str, subresource: Option<&str>) -> bool {
        self.is::<K>()
            && self.verb() == verb
            && self.name().as_deref() == Some(name)
            && self.subresource().as_deref() == subresource
    }

    async fn of(request: Request<Body>) -> Self {
        let (head, body) = request.into_parts();
        let body = body.collect_bytes().await.unwrap_or_default();
        let content_type = head.headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        Self {
            method: head.method.to_string(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            content_type: content_type.unwrap_or_default().to_owned(),
            body: serde_json::from_slice(&body).unwrap_or_default(),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.method, self.path, self.body)
    }
}

/// The recorded requests, with queries by kind and name. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Calls(Arc<Mutex<Vec<Call>>>);

impl Calls {
    fn calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns all requests, and clears the record.
    pub fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls())
    }

    /// `true` if there was no request.
    pub fn is_empty(&self) -> bool {
        self.calls().is_empty()
    }

    /// The requests for objects of this kind, or for their subresources.
    pub fn of<K: Resource<DynamicType = ()>>(&self) -> Vec<Call> {
        self.calls().iter().filter(|call| call.is::<K>()).cloned().collect()
    }

    /// The body of the last apply of the object of this kind and name.
    ///
    /// # Panics
    ///
    /// If nothing was applied under this name; the message lists the requests.
    pub fn applied<K: Resource<DynamicType = ()>>(&self, name: &str) -> Value {
        self.last::<K>("applied", name, |call| call.is_apply() && call.asks::<K>("patch", name, None)).body
    }

    /// The last applied object of this kind and name, decoded.
    ///
    /// # Panics
    ///
    /// If nothing was applied under this name, or only a part of an object.
    pub fn applied_object<K>(&self, name: &str) -> K
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        let body = self.applied::<K>(name);
        let described = format!("{} `{name}` is not a complete object: {body}", K::kind(&()));
        serde_json::from_value(body).unwrap_or_else(|error| panic!("{described}: {error}"))
    }

    /// The last applied status of the object of this kind and name.
    ///
    /// # Panics
    ///
    /// If no status was applied under this name; the message lists the requests.
    pub fn status<K: Resource<DynamicType = ()>>(&self, name: &str) -> Value {
        let is_status = |call: &Call| call.is_apply() && call.asks::<K>("patch", name, Some("status"));
        self.last::<K>("given a status", name, is_status).body["status"].take()
    }

    /// The last patch of the object of this kind and name, of any type.
    ///
    /// # Panics
    ///
    /// If nothing was patched under this name; the message lists the requests.
    pub fn patch<K: Resource<DynamicType = ()>>(&self, name: &str) -> Call {
        self.last::<K>("patched", name, |call| call.asks::<K>("patch", name, None))
    }

    /// The body of the last request to create an object of this kind and name.
    ///
    /// # Panics
    ///
    /// If there was none; the message lists the requests.
    pub fn created<K: Resource<DynamicType = ()>>(&self, name: &str) -> Value {
        self.last::<K>("created", name, |call| call.asks::<K>("create", name, None)).body
    }

    /// `true` if there was a request to delete the object of this kind and name.
    pub fn deleted<K: Resource<DynamicType = ()>>(&self, name: &str) -> bool {
        self.calls().iter().any(|call| call.asks::<K>("delete", name, None))
    }

    /// `true` if there was a request that may have changed objects of this kind.
    pub fn changed<K: Resource<DynamicType = ()>>(&self) -> bool {
        self.calls().iter().any(|call| call.is::<K>() && !matches!(call.verb(), "get" | "list" | "watch"))
    }

    /// The reasons of the published events, in order.
    pub fn events(&self) -> Vec<String> {
        use k8s_openapi::api::events::v1::Event;
        let events = self.of::<Event>();
        events.iter().filter_map(|call| Some(call.body["reason"].as_str()?.to_owned())).collect()
    }

    fn last<K: Resource<DynamicType = ()>>(&self, what: &str, name: &str, is: impl Fn(&Call) -> bool) -> Call {
        let calls = self.calls();
        let found = calls.iter().rfind(|call| is(call)).cloned();
        found.unwrap_or_else(|| {
            let made: Vec<String> = calls.iter().map(Call::to_string).collect();
            panic!("no {} `{name}` was {what}; requests:\n{}", K::kind(&()), made.join("\n"))
        })
    }
}

/// Creates a client whose requests get the HTTP status and body that `answer` returns.
///
/// Requires a tokio runtime.
pub fn api_server<F>(answer: F) -> (Client, Calls)
where
    F: Fn(&Call) -> (u16, Value) + Send + 'static,
{
    let calls = Calls::default();
    let (seen, answer) = (calls.clone(), Arc::new(Mutex::new(answer)));
    let service = tower::service_fn(move |request: Request<Body>| {
        let (seen, answer) = (seen.clone(), answer.clone());
        async move {
            let call = Call::of(request).await;
            let (status, body) = answer.lock().unwrap_or_else(PoisonError::into_inner)(&call);
            seen.calls().push(call);
            let mut response = Response::new(Body::from(body.to_string().into_bytes()));
            *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
            Ok::<_, kube::Error>(response)
        }
    });
    (Client::new(service, "default"), calls)
}

/// Creates a context with an API server that is empty at first, and stores what is applied or created.
///
/// It does what operators notice of an API server: it sets uid, version, generation and time of creation, merges
/// patches, waits for finalizers, and rejects requests for objects that do not exist (404), already exist (409) or are
/// outdated (409). It has no watches, no admission and no garbage collection. Writing the status of an object that does
/// not exist succeeds.
pub fn context() -> (Arc<Context>, Calls) {
    context_having([])
}

/// Like [`context`], with an API server that contains these objects.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use opctl_runtime::testing::{self, object};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut settings = ConfigMap::default();
/// settings.metadata.name = Some("settings".to_owned());
/// let (ctx, _calls) = testing::context_having([object(&*testing::stored(settings))]);
/// let seen = ctx.api::<ConfigMap>().list(&Default::default()).await.unwrap();
/// assert_eq!(seen.items.len(), 1);
/// # }
/// ```
pub fn context_having(objects: impl IntoIterator<Item = Object>) -> (Arc<Context>, Calls) {
    context_with(default_answers(objects))
}

/// The responses of the API server of [`context_having`], for a test that overrides some of them.
///
/// ```
/// use opctl_runtime::testing::{self, Call};
/// use k8s_openapi::api::apps::v1::Deployment;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let others = testing::default_answers([]);
/// let (ctx, calls) = testing::context_with(move |call| match call.is::<Deployment>() {
///     true => (403, testing::status(403, "Forbidden")),
///     false => others(call),
/// });
/// # }
/// ```
pub fn default_answers(objects: impl IntoIterator<Item = Object>) -> impl Fn(&Call) -> (u16, Value) + Send + 'static {
    let store = Mutex::new(Store::default());
    for Object { path, value } in objects {
        store.lock().unwrap_or_else(PoisonError::into_inner).insert(path, value);
    }
    move |call| store.lock().unwrap_or_else(PoisonError::into_inner).answer(call)
}

/// An object of a mock API server, created by [`object`].
#[derive(Clone, Debug)]
pub struct Object {
    path: String,
    value: Value,
}

/// Creates an object for [`context_having`].
///
/// # Panics
///
/// If the object has no name.
pub fn object<K: Resource<DynamicType = ()> + Serialize>(object: &K) -> Object {
    let meta = object.meta();
    let name = meta.name.as_deref().expect("the object has a name");
    let path = format!("{}/{name}", K::url_path(&(), meta.namespace.as_deref()));
    let mut value = serde_json::to_value(object).expect("an object is JSON");
    value["apiVersion"] = K::api_version(&()).into();
    value["kind"] = K::kind(&()).into();
    Object { path, value }
}

/// Creates a context with an API server that responds with the HTTP status and body that `answer` returns.
pub fn context_with<F>(answer: F) -> (Arc<Context>, Calls)
where
    F: Fn(&Call) -> (u16, Value) + Send + 'static,
{
    let (client, calls) = api_server(answer);
    let operator = Operator { name: "test-operator", version: "0.0.0" };
    (Arc::new(Context::new(client, operator, options([]))), calls)
}

/// The `Status` of a failed request, such as `status(403, "Forbidden")`.
pub fn status(code: u16, reason: &str) -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason })
}
