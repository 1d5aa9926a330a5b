//! The middleware of all requests to the API server: metrics, a timeout, retries that do not add to an overload, and
//! errors that name the server.
//!
//! - 429, and 503 with `Retry-After`, refuse a request before it has any effect: it is repeated after that time. A 503
//!   without `Retry-After` is repeated if the request is idempotent. A 504 is not repeated: the request may have been
//!   executed.
//! - A request is sent at most [`TRIES`] times and within [`PATIENCE`]; then the caller gets the response, and has its
//!   own backoff.
//! - All requests to an API group share a [`Gate`]: while the server refuses one, the others are not sent. The gate is
//!   per group since an unavailable aggregated API does not affect the others.

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

/// Maximum number of times that a request is sent.
pub(super) const TRIES: u32 = 5;
/// Maximum time that a request waits for an overloaded server, over all tries.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// Timeout until a response begins. The API server itself gives up after 60 seconds (`--request-timeout`).
pub(super) const ANSWER: Duration = Duration::from_secs(90);

/// The API server in error messages.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// The URL, without a trailing slash.
    pub url: String,
    /// The URL of the proxy, and the setting that it is from.
    pub proxy: Option<(String, &'static str)>,
}

/// Wraps a service in [`Requests`].
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
        // Each try waits until the service is ready.
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
                // The server's own response is more useful.
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
                    // kube handles its own errors, such as those of authentication.
                    return Err(if error.is::<kube::Error>() { error } else { failed(Why::of(error)).into() });
                }
                Err(_) => return Err(failed(Why::Timeout(limit)).into()),
            };
            let Some(overload) = Overload::of(&response, &target) else {
                pass.answered();
                return Ok(response);
            };
            pass.refused(overload.retry_after);
            match next {
                Some(next) if tries < TRIES && (overload.is_untouched || repeatable) => {
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

/// The response of an overloaded server.
struct Overload {
    retry_after: Option<Duration>,
    /// The request had no effect.
    is_untouched: bool,
}

impl Overload {
    fn of<B>(response: &Response<B>, target: &Target) -> Option<Self> {
        let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let retry_after = seconds.map(Duration::from_secs);
        let is_untouched = match response.status() {
            // An eviction that a PodDisruptionBudget forbids gets 429, too.
            StatusCode::TOO_MANY_REQUESTS => target.subresource() != Some("eviction"),
            StatusCode::SERVICE_UNAVAILABLE => retry_after.is_some(),
            _ => return None,
        };
        (is_untouched || response.status() == StatusCode::SERVICE_UNAVAILABLE)
            .then_some(Self { retry_after, is_untouched })
    }
}

/// `true` if executing the request twice has the same effect as once.
fn is_idempotent(request: &Request<Body>) -> bool {
    let content_type = request.headers().get(CONTENT_TYPE).map(|value| value.as_bytes());
    match *request.method() {
        Method::GET | Method::HEAD | Method::PUT | Method::DELETE => true,
        Method::PATCH => content_type.is_some_and(|it| it.starts_with(b"application/apply-patch")),
        _ => false,
    }
}

/// Copies a request; `None` if the body is a stream.
fn copy(request: &Request<Body>) -> Option<Request<Body>> {
    let mut copy = Request::new(request.body().try_clone()?);
    copy.method_mut().clone_from(request.method());
    copy.uri_mut().clone_from(request.uri());
    *copy.version_mut() = request.version();
    copy.headers_mut().clone_from(request.headers());
    copy.extensions_mut().clone_from(request.extensions());
    Some(copy)
}

/// The timeout until a response begins. Connections to a Pod may be silent for long.
fn limit(request: &Request<Body>, target: &Target) -> Duration {
    let is_long = request.headers().contains_key(UPGRADE)
        || asks(request.uri(), "follow")
        || matches!(target.subresource(), Some("attach" | "exec" | "log" | "portforward" | "proxy"));
    if is_long { Duration::from_secs(24 * 3600) } else { ANSWER }
}

/// A request to the API server that got no response.
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

/// Skips hyper's "client error (Connect)", which adds no information.
fn below<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    match error.source() {
        Some(cause) if error.is::<hyper_util::client::legacy::Error>() => cause,
        _ => error,
    }
}

fn explained(error: &(dyn StdError + 'static)) -> String {
    let text = with_causes(below(error));
    // The only misconfiguration that the text does not explain. TLS errors are wrapped in I/O errors.
    let is_certificate = text.contains("invalid peer certificate");
    if is_certificate {
        return format!("its certificate is not trusted ({text}); check `certificate-authority` in the kubeconfig");
    }
    // The timeout to connect, including TLS; the text does not name it.
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
