//! Around every request to the API server: metrics, a limit of time, retries that an overloaded server can bear, and errors
//! that name the server.
//!
//! - 429 and 503 with `Retry-After` were refused before anything was done: they are repeated after that time. 503 without it
//!   is repeated if a second execution changes nothing. 504 is not repeated: the request may have been carried out.
//! - At most [`TRIES`] times and within [`PATIENCE`]; then the caller gets the answer, and has a backoff of its own.
//! - All requests of an API group share a [`Gate`]: while the server refuses one, the others are not sent. A group, since an
//!   aggregated API that is unavailable says nothing about the others.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use http::header::{CONTENT_TYPE, RETRY_AFTER, UPGRADE};
use http::{Method, Request, Response, StatusCode};
use kube::client::Body;
use tokio::time::{Instant, timeout};
use tower::{BoxError, Layer, Service, ServiceExt};
use tracing::debug;

use super::overload::{Gate, Overloaded};
use super::target::{Target, asks};
use crate::telemetry::metrics::Metrics;
use crate::with_causes;

/// How often a request is sent at most.
pub(super) const TRIES: u32 = 5;
/// How long a request waits for an overloaded server, with all its tries.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// How long an answer may take to begin. The API server itself gives up after 60 seconds (`--request-timeout`).
pub(super) const ANSWER: Duration = Duration::from_secs(90);

/// The API server, as errors name it.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// Without a slash at its end.
    pub url: String,
    /// URL and origin of the proxy.
    pub proxy: Option<(String, &'static str)>,
}

/// Puts [`Requests`] around a service.
#[derive(Clone)]
pub(super) struct RequestsLayer(Arc<Shared>);

struct Shared {
    server: Arc<Server>,
    metrics: Metrics,
    gates: Mutex<HashMap<String, Arc<Gate>>>,
}

#[derive(Clone)]
pub(super) struct Requests<S> {
    inner: S,
    shared: Arc<Shared>,
}

impl RequestsLayer {
    pub fn new(server: Server, metrics: Metrics) -> Self {
        Self(Arc::new(Shared { server: server.into(), metrics, gates: Mutex::default() }))
    }
}

impl<S> Layer<S> for RequestsLayer {
    type Service = Requests<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Requests { inner, shared: self.0.clone() }
    }
}

impl<S, B> Service<Request<Body>> for Requests<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Send + 'static,
{
    type Response = Response<B>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<B>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // Each try waits for the service itself.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Self { inner, shared } = self.clone();
        Box::pin(async move { shared.send(inner, request).await })
    }
}

impl Shared {
    async fn send<S, B>(&self, service: S, mut request: Request<Body>) -> Result<Response<B>, BoxError>
    where
        S: Service<Request<Body>, Response = Response<B>> + Clone,
        S::Error: Into<BoxError>,
    {
        let target = Target::of(request.method(), request.uri());
        let what = format!("{} {}{}", request.method(), self.server.url, request.uri().path());
        let failed = |why| RequestError { server: self.server.clone(), what: what.clone(), why };
        let limit = limit(&request, &target);
        let gate = self.gate(&target.group);
        let deadline = Instant::now() + PATIENCE;
        let mut refused: Option<Response<B>> = None;
        let mut tries = 0;
        loop {
            tries += 1;
            let pass = match gate.enter(deadline).await {
                Ok(pass) => pass,
                // The server's own answer is better to know.
                Err(overloaded) => return refused.ok_or_else(|| failed(Why::Overloaded(overloaded)).into()),
            };
            let next = copy(&request);
            let repeatable = is_idempotent(&request);
            let start = Instant::now();
            let answer = timeout(limit, service.clone().oneshot(request)).await;
            let code = answer.as_ref().ok().and_then(|it| it.as_ref().ok()).map(|it| it.status());
            self.metrics.requested(&target, code, start.elapsed());
            debug!(code = code.map(|code| code.as_u16()), after = ?start.elapsed(), "{what}");
            let response = match answer {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => {
                    let error: BoxError = error.into();
                    // kube knows its own errors.
                    return Err(if error.is::<kube::Error>() { error } else { failed(Why::of(error)).into() });
                }
                Err(_) => return Err(failed(Why::Timeout(limit)).into()),
            };
            let Some(refusal) = Refusal::of(&response, &target) else {
                pass.answered();
                return Ok(response);
            };
            pass.refused(refusal.retry_after);
            match next {
                Some(next) if tries < TRIES && (refusal.is_untouched || repeatable) => {
                    self.metrics.retried(&target, response.status());
                    (request, refused) = (next, Some(response));
                }
                _ => return Ok(response),
            }
        }
    }

    fn gate(&self, group: &str) -> Arc<Gate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = gates.get(group) {
            return gate.clone();
        }
        gates.entry(group.to_owned()).or_default().clone()
    }
}

/// How a server refuses a request since it is overloaded.
struct Refusal {
    retry_after: Option<Duration>,
    /// Whether nothing was done.
    is_untouched: bool,
}

impl Refusal {
    fn of<B>(response: &Response<B>, target: &Target) -> Option<Self> {
        let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let retry_after = seconds.map(Duration::from_secs);
        let is_untouched = match response.status() {
            // A PodDisruptionBudget says no, which is no overload.
            StatusCode::TOO_MANY_REQUESTS => target.subresource() != Some("eviction"),
            StatusCode::SERVICE_UNAVAILABLE => retry_after.is_some(),
            _ => return None,
        };
        (is_untouched || response.status() == StatusCode::SERVICE_UNAVAILABLE)
            .then_some(Self { retry_after, is_untouched })
    }
}

/// Whether a second execution changes nothing.
fn is_idempotent(request: &Request<Body>) -> bool {
    let content_type = request.headers().get(CONTENT_TYPE).map(|value| value.as_bytes());
    match *request.method() {
        Method::GET | Method::HEAD | Method::PUT | Method::DELETE => true,
        Method::PATCH => content_type.is_some_and(|it| it.starts_with(b"application/apply-patch")),
        _ => false,
    }
}

/// Nothing where the body is a stream.
fn copy(request: &Request<Body>) -> Option<Request<Body>> {
    let mut copy = Request::new(request.body().try_clone()?);
    copy.method_mut().clone_from(request.method());
    copy.uri_mut().clone_from(request.uri());
    *copy.version_mut() = request.version();
    copy.headers_mut().clone_from(request.headers());
    copy.extensions_mut().clone_from(request.extensions());
    Some(copy)
}

/// Of the time until an answer begins: what speaks with a Pod may say nothing for long.
fn limit(request: &Request<Body>, target: &Target) -> Duration {
    let is_long = request.headers().contains_key(UPGRADE)
        || asks(request.uri(), "follow")
        || matches!(target.subresource(), Some("attach" | "exec" | "log" | "portforward" | "proxy"));
    if is_long { Duration::from_secs(24 * 3600) } else { ANSWER }
}

/// A request without an answer: which one, of which server, and why.
///
/// It is the source of a [`kube::Error::Service`].
#[derive(Debug)]
pub struct RequestError {
    server: Arc<Server>,
    /// Method and URL.
    what: String,
    why: Why,
}

#[derive(Debug)]
enum Why {
    Connect(BoxError),
    Failed(BoxError),
    Timeout(Duration),
    Overloaded(Overloaded),
}

impl Why {
    fn of(error: BoxError) -> Self {
        match error.downcast_ref::<hyper_util::client::legacy::Error>() {
            Some(error_of_hyper) if error_of_hyper.is_connect() => Self::Connect(error),
            _ => Self::Failed(error),
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, what, why } = self;
        match why {
            Why::Connect(error) => {
                write!(f, "cannot connect to {}", server.url)?;
                if let Some((proxy, origin)) = &server.proxy {
                    write!(f, " through the proxy {proxy} ({origin})")?;
                }
                write!(f, ": {}", explained(&**error))
            }
            Why::Failed(error) => write!(f, "{what} failed: {}", explained(&**error)),
            Why::Timeout(limit) => write!(f, "{what} failed: no answer in {} seconds", limit.as_secs()),
            Why::Overloaded(Overloaded(left)) => {
                let left = left.as_secs().max(1);
                write!(f, "{what} was not sent: the server is overloaded, try again in {left} seconds")
            }
        }
    }
}

impl StdError for RequestError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.why {
            Why::Connect(error) | Why::Failed(error) => Some(below(&**error)),
            Why::Timeout(_) | Why::Overloaded(_) => None,
        }
    }
}

/// Without hyper's "client error (Connect)", which says nothing more.
fn below<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    match error.source() {
        Some(cause) if error.is::<hyper_util::client::legacy::Error>() => cause,
        _ => error,
    }
}

fn explained(error: &(dyn StdError + 'static)) -> String {
    let text = with_causes(below(error));
    // The one mistake in the configuration whose text does not name it. Errors of TLS are inside of those of I/O.
    let is_certificate = text.contains("invalid peer certificate");
    if is_certificate {
        return format!("its certificate is not trusted ({text}); check `certificate-authority` in the kubeconfig");
    }
    // The time to connect, TLS included, of which the text does not say what it is for.
    if text.ends_with("deadline has elapsed") {
        return format!("it takes too long ({text})");
    }
    if text.contains("proxy authorization required") {
        return format!("the proxy wants a user and a password ({text})");
    }
    if text.ends_with("tunnel error: unsuccessful") {
        return format!("the proxy refuses to connect to this server; `NO_PROXY` can except it ({text})");
    }
    text
}
