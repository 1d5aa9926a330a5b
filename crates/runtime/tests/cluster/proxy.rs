//! A proxy in front of the API server, which can be made to fail.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, TryStreamExt};
use kube::{Client, Config};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::cluster::Cluster;

/// The treatment of requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Mode {
    #[default]
    Pass,
    /// Requests are refused with this code, optionally with a `Retry-After` in seconds.
    Refuse(u16, Option<u64>),
    /// Requests are delayed by this time.
    Slow(Duration),
    /// Watches fail at once, since their resource version has expired.
    Expired,
}

/// A running proxy.
pub struct Proxy {
    /// The configuration of a client that uses the proxy.
    pub config: Config,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    client: Client,
    mode: watch::Sender<Mode>,
    requests: Mutex<Vec<String>>,
}

impl Proxy {
    pub async fn start(cluster: &Cluster) -> Self {
        let shared = Arc::new(Shared {
            client: cluster.client.clone(),
            mode: watch::Sender::default(),
            requests: Mutex::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { config: Config::new(url.parse().unwrap()), shared, task }
    }

    /// Changes the mode. Open watches are closed, unless they only become slow.
    pub fn set(&self, mode: Mode) {
        self.shared.mode.send_replace(mode);
    }

    /// Method and path of the requests since the last call.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.requests.lock().unwrap())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
    let verb = if is_watch { "WATCH" } else { request.method().as_str() };
    shared.requests.lock().unwrap().push(format!("{verb} {}", request.uri().path()));
    let mut mode = shared.mode.subscribe();
    let now = mode.borrow_and_update().clone();
    match now {
        Mode::Pass => {}
        Mode::Slow(delay) => sleep(delay).await,
        Mode::Refuse(code, after) => return refusal(code, after),
        Mode::Expired if is_watch => {
            let status =
                json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410, "reason": "Expired" });
            return (json!({ "type": "ERROR", "object": status }).to_string() + "\n").into_response();
        }
        Mode::Expired => {}
    }
    let (head, body) = request.into_parts();
    let mut forwarded =
        axum::http::Request::builder().method(head.method).uri(head.uri.path_and_query().unwrap().as_str());
    for name in [header::CONTENT_TYPE, header::ACCEPT] {
        if let Some(value) = head.headers.get(&name) {
            forwarded = forwarded.header(name, value);
        }
    }
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let forwarded = forwarded.body(kube::client::Body::from(body)).unwrap();
    match shared.client.send(forwarded).await {
        Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
        Ok(response) if is_watch => {
            let (head, body) = response.into_parts();
            let changed = async move {
                let _ = mode.changed().await;
            };
            let data = Body::new(body).into_data_stream().map_err(std::io::Error::other).take_until(Box::pin(changed));
            (head.status, content_type(&head.headers), Body::from_stream(data)).into_response()
        }
        Ok(response) => response.map(Body::new),
    }
}

fn content_type(headers: &HeaderMap) -> HeaderMap {
    let content_type = headers.get(header::CONTENT_TYPE).cloned();
    content_type.into_iter().map(|value| (header::CONTENT_TYPE, value)).collect()
}

fn refusal(code: u16, after: Option<u64>) -> Response {
    let status = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": "refused by the test" });
    let mut response = (StatusCode::from_u16(code).unwrap(), status.to_string()).into_response();
    if let Some(seconds) = after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
