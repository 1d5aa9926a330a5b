//! A mock API server for unit tests: it answers as the test wants, and keeps the requests.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube::client::Body;
use kube::{Client, Resource};
use serde_json::{Value, json};

use super::options;
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
    /// The type of the body; that of a patch tells which kind of patch it is.
    pub content_type: String,
    /// The body as JSON; null if there is none.
    pub body: Value,
}

impl Call {
    /// Whether the request is about objects of this kind, or about a subresource of them.
    pub fn is<K: Resource<DynamicType = ()>>(&self) -> bool {
        self.target::<K>().is_some()
    }

    /// The rest of the path behind the resource: empty, `/NAME` or `/NAME/SUBRESOURCE`.
    fn target<K: Resource<DynamicType = ()>>(&self) -> Option<&str> {
        let rest = self.path.strip_prefix(&K::url_path(&(), None)).or_else(|| {
            let plural = K::plural(&());
            let root = K::url_path(&(), None);
            let root = root.strip_suffix(&*plural)?;
            let (_, rest) = self.path.strip_prefix(root)?.strip_prefix("namespaces/")?.split_once('/')?;
            rest.strip_prefix(&*plural)
        })?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    }

    fn is_apply(&self) -> bool {
        self.content_type == "application/apply-patch+yaml"
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.method, self.path, self.body)
    }
}

/// The requests that were made so far.
#[derive(Clone, Debug, Default)]
pub struct Calls(Arc<Mutex<Vec<Call>>>);

impl Calls {
    fn calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them; there are none after this.
    pub fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls())
    }

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.calls().is_empty()
    }

    /// Those about objects of this kind, or about their subresources.
    pub fn of<K: Resource<DynamicType = ()>>(&self) -> Vec<Call> {
        self.calls().iter().filter(|call| call.is::<K>()).cloned().collect()
    }

    /// What was applied last as the object of this kind and name.
    ///
    /// # Panics
    ///
    /// If nothing was applied under this name, with the requests that were made.
    pub fn applied<K: Resource<DynamicType = ()>>(&self, name: &str) -> Value {
        self.last_applied::<K>(&format!("/{name}"))
    }

    /// What was applied last as the status of the object of this kind and name.
    ///
    /// # Panics
    ///
    /// If no status was applied under this name, with the requests that were made.
    pub fn status<K: Resource<DynamicType = ()>>(&self, name: &str) -> Value {
        self.last_applied::<K>(&format!("/{name}/status"))["status"].take()
    }

    fn last_applied<K: Resource<DynamicType = ()>>(&self, target: &str) -> Value {
        let calls = self.calls();
        let mut applies = calls.iter().filter(|call| call.is_apply() && call.target::<K>() == Some(target));
        match applies.next_back() {
            Some(call) => call.body.clone(),
            None => {
                let made: Vec<String> = calls.iter().map(Call::to_string).collect();
                panic!("no {} was applied at `{target}`; requests:\n{}", K::kind(&()), made.join("\n"))
            }
        }
    }
}

/// A client whose requests get the HTTP status and body that `answer` gives.
///
/// It needs the runtime of tokio.
pub fn api_server<F>(answer: F) -> (Client, Calls)
where
    F: Fn(&Call) -> (u16, Value) + Send + 'static,
{
    let (service, mut requests) = tower_test::mock::pair::<http::Request<Body>, http::Response<Body>>();
    let calls = Calls::default();
    let seen = calls.clone();
    tokio::spawn(async move {
        while let Some((request, response)) = requests.next_request().await {
            let (head, body) = request.into_parts();
            let body = body.collect_bytes().await.unwrap_or_default();
            let content_type = head.headers.get(http::header::CONTENT_TYPE);
            let content_type = content_type.and_then(|value| value.to_str().ok());
            let call = Call {
                method: head.method.to_string(),
                path: head.uri.path().to_owned(),
                query: head.uri.query().unwrap_or_default().to_owned(),
                content_type: content_type.unwrap_or_default().to_owned(),
                body: serde_json::from_slice(&body).unwrap_or_default(),
            };
            let (status, body) = answer(&call);
            seen.calls().push(call);
            let mut answer = http::Response::new(Body::from(body.to_string().into_bytes()));
            *answer.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
            response.send_response(answer);
        }
    });
    (Client::new(service, "default"), calls)
}

/// A context whose API server stores nothing: it accepts what is applied, patched or created as it is, and has no object to read.
pub fn context() -> (Arc<Context>, Calls) {
    context_with(|call| match call.method.as_str() {
        "GET" | "DELETE" => (404, status(404, "NotFound")),
        _ => (200, call.body.clone()),
    })
}

/// A context with an API server that answers like this: with an HTTP status and a body.
pub fn context_with<F>(answer: F) -> (Arc<Context>, Calls)
where
    F: Fn(&Call) -> (u16, Value) + Send + 'static,
{
    let (client, calls) = api_server(answer);
    let operator = Operator { name: "test-operator", version: "0.0.0" };
    (Arc::new(Context::new(client, operator, options([]))), calls)
}

/// The body with which an API server refuses a request: `status(403, "Forbidden")`.
pub fn status(code: u16, reason: &str) -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason })
}
