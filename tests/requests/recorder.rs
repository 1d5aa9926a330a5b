//! Runs each case against a service that answers as an API server would, and prints a line for each permission that a
//! request of it needs: the case, a tab, the permission.
//!
//! With `--cluster`, each line of the input is a case, a tab and a user: it runs the case against a real API server as
//! that user, those of one case in their order, and prints the line with the first refusal behind it, if there was one.

#![allow(dead_code, deprecated, clippy::all)]

/* modules */
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt, stream};
use http::{Method, Request, Response, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

type Run = fn(Client) -> LocalBoxFuture<'static, anyhow::Result<()>>;

const CASES: &[(&str, Run)] = &[
/* cases */];

/// Long enough for everything that a case does at once; controllers and watches do not end.
const PATIENCE: Duration = Duration::from_secs(4);

#[tokio::main]
async fn main() {
    if std::env::args().nth(1).as_deref() == Some("--cluster") {
        return run_in_cluster().await;
    }
    let recorded = stream::iter(CASES).map(|(case, run)| async move {
        let asked = Arc::new(Mutex::new(BTreeSet::new()));
        let service = {
            let asked = asked.clone();
            tower::service_fn(move |request| answer(request, asked.clone()))
        };
        let client = Client::new(service, "default");
        if let Ok(Err(error)) = tokio::time::timeout(PATIENCE, run(client)).await {
            println!("{case}\tfailed: {error:?}");
        }
        let asked = std::mem::take(&mut *asked.lock().unwrap());
        for permission in asked {
            println!("{case}\t{permission}");
        }
    });
    recorded.buffer_unordered(CASES.len()).collect::<()>().await;
}

async fn run_in_cluster() {
    let mut runs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (case, user) = line.split_once('\t').unwrap();
        runs.entry(case.into()).or_default().push(user.into());
    }
    let count = runs.len();
    let runs = stream::iter(runs).map(|(case, users)| async move {
        let (_, run) = CASES.iter().find(|(name, _)| *name == case).expect("a case");
        for user in users {
            let refused = Arc::new(Mutex::new(None));
            let client = client_of(&user, refused.clone()).await;
            let refusal = async {
                while refused.lock().unwrap().is_none() {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            let done = futures::future::select(run(client), refusal.boxed_local());
            let _ = tokio::time::timeout(PATIENCE, done).await;
            println!("{case}\t{user}\t{}", refused.lock().unwrap().take().unwrap_or_default());
        }
    });
    runs.buffer_unordered(count).collect::<()>().await;
}

/// A client that says which request was refused.
async fn client_of(user: &str, refused: Arc<Mutex<Option<String>>>) -> Client {
    let name = http::HeaderValue::from_str(user).unwrap();
    let admin = Client::try_default().await.expect("a cluster");
    let service = tower::service_fn(move |mut request: Request<Body>| {
        request.headers_mut().insert("impersonate-user", name.clone());
        let asked = format!("{} {}", request.method(), request.uri().path());
        let (admin, refused) = (admin.clone(), refused.clone());
        async move {
            let answer = admin.send(request).await?;
            if answer.status() == 403 {
                refused.lock().unwrap().get_or_insert(asked);
            }
            Ok::<_, kube::Error>(answer)
        }
    });
    Client::new(service, "default")
}

/// The subject of a request, as `RequestInfo` in Kubernetes' apiserver has it.
#[derive(Clone, Debug, Default)]
struct Info {
    group: String,
    namespace: Option<String>,
    resource: String,
    name: Option<String>,
    subresource: Option<String>,
}

impl Info {
    fn of(path: &str) -> Option<Self> {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let (group, mut rest) = match segments.as_slice() {
            ["api", _, rest @ ..] => ("", rest),
            ["apis", group, _, rest @ ..] => (*group, rest),
            _ => return None,
        };
        let mut info = Self { group: group.into(), ..Self::default() };
        if let ["namespaces", namespace, inner @ ..] = rest
            && !matches!(inner, [] | ["status"] | ["finalize"])
        {
            info.namespace = Some((*namespace).into());
            rest = inner;
        }
        let mut rest = rest.iter().map(|segment| segment.to_string());
        info.resource = rest.next()?;
        info.name = rest.next();
        info.subresource = rest.next();
        Some(info)
    }

    fn permission(&self, verb: &str) -> String {
        let group = if self.group.is_empty() { String::new() } else { format!(".{}", self.group) };
        let subresource = self.subresource.iter().map(|name| format!("/{name}")).collect::<String>();
        let namespace = self.namespace.iter().map(|name| format!(" in {name}")).collect::<String>();
        format!("{verb} {}{group}{subresource}{namespace}", self.resource)
    }

    /// The authorisations that are asked for, also those that the API server asks for a second time: see `tests/operators/requests.rs`.
    fn permissions(&self, request: &Request<Body>) -> Vec<String> {
        let query = request.uri().query().unwrap_or_default();
        let is_watch = query.split('&').any(|pair| pair == "watch=true" || pair == "watch=1");
        let verb = match (request.method(), &self.name) {
            (&Method::GET, _) if is_watch => "watch",
            (&Method::GET, None) => "list",
            (&Method::GET, Some(_)) => "get",
            (&Method::POST, _) => "create",
            (&Method::PUT, _) => "update",
            (&Method::PATCH, _) => "patch",
            (&Method::DELETE, None) => "deletecollection",
            (&Method::DELETE, Some(_)) => "delete",
            (method, _) => panic!("{method} is no request of kube's"),
        };
        let mut permissions = vec![self.permission(verb)];
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind == Some("application/apply-patch+yaml") && self.subresource.is_none() {
            permissions.push(self.permission("create"));
        }
        if request.headers().contains_key(header::UPGRADE) {
            permissions.push(self.permission("create"));
        }
        if self.resource == "certificatesigningrequests" && self.subresource.as_deref() == Some("approval") && verb != "get" {
            permissions.push("approve signers.certificates.k8s.io".into());
        }
        permissions
    }
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

async fn answer(request: Request<Body>, asked: Arc<Mutex<BTreeSet<String>>>) -> Result<Answer, Infallible> {
    let Some(info) = Info::of(request.uri().path()).filter(|info| !info.resource.is_empty()) else {
        return Ok(reply(200, discovery(request.uri().path())));
    };
    let permissions = info.permissions(&request);
    asked.lock().unwrap().extend(permissions.iter().cloned());
    let is_upgrade = request.headers().contains_key(header::UPGRADE);
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let verb = permissions[0].split(' ').next().unwrap();
    let of_collection = json!({ "resourceVersion": "1" });
    Ok(match (verb, info.subresource.as_deref()) {
        _ if is_upgrade => reply(403, status("Failure", 403)),
        (_, Some("log")) => reply(200, Value::Null),
        (_, Some("eviction")) => reply(200, status("Success", 200)),
        (_, Some("scale")) => reply(200, json!({ "metadata": {}, "spec": {}, "status": { "replicas": 1 } })),
        ("get", _) if info.name.as_deref() == Some("absent") => reply(404, status("Failure", 404)),
        ("watch", _) => watch(json!({ "type": "ADDED", "object": object(&info, Value::Null) })),
        ("list", _) => reply(200, json!({ "metadata": of_collection, "items": [object(&info, Value::Null)] })),
        ("delete" | "deletecollection", _) => reply(200, status("Success", 200)),
        ("patch" | "get", _) => reply(200, object(&info, Value::Null)),
        _ => reply(200, object(&info, body)),
    })
}

/// An existing object, under the name that was asked for; types and specs are as good as empty.
fn object(info: &Info, sent: Value) -> Value {
    let mut object = if sent.is_object() { sent } else { json!({ "spec": {} }) };
    let name = info.name.clone().unwrap_or_else(|| "one".into());
    if object["metadata"]["name"].is_null() {
        object["metadata"]["name"] = name.into();
    }
    object["metadata"]["namespace"] = "default".into();
    object["metadata"]["uid"] = "0".into();
    object["metadata"]["resourceVersion"] = "1".into();
    if info.resource == "tokenrequests" || info.subresource.as_deref() == Some("token") {
        object["status"] = json!({ "token": "", "expirationTimestamp": "2030-01-01T00:00:00Z" });
    }
    object
}

fn status(status: &str, code: u16) -> Value {
    let reason = if code == 404 { "NotFound" } else { "" };
    json!({ "kind": "Status", "apiVersion": "v1", "status": status, "code": code, "reason": reason,
        "message": "", "details": { "uid": "1" } })
}

fn discovery(path: &str) -> Value {
    let group = json!({ "name": "apps", "versions": [{ "groupVersion": "apps/v1", "version": "v1" }] });
    let resource = json!({ "name": "deployments", "singularName": "deployment", "namespaced": true,
        "kind": "Deployment", "verbs": ["get", "list"] });
    match path {
        "/apis" => json!({ "kind": "APIGroupList", "groups": [group], "items": [] }),
        "/api" => json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [], "items": [] }),
        "/version" => json!({ "major": "1", "minor": "37", "gitVersion": "", "gitCommit": "", "gitTreeState": "",
            "buildDate": "", "goVersion": "", "compiler": "", "platform": "" }),
        _ => json!({ "kind": "APIResourceList", "groupVersion": "apps/v1", "resources": [resource] }),
    }
}

fn reply(code: u16, body: Value) -> Answer {
    let body = Full::new(Bytes::from(body.to_string())).boxed();
    Response::builder().status(code).header(header::CONTENT_TYPE, "application/json").body(body).unwrap()
}

/// One event, and then nothing: a watch that ended would be asked for again at once.
fn watch(event: Value) -> Answer {
    let line = Ok(http_body::Frame::data(Bytes::from(format!("{event}\n"))));
    let body = StreamBody::new(stream::iter([line]).chain(stream::pending()));
    Response::builder().body(BodyExt::boxed(body)).unwrap()
}
