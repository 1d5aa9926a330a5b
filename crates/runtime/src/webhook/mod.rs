//! Webhooks: the API server calls the operator to default, validate or convert objects before it stores them.
//!
//! A [`Webhook`] is a [`Defaulting`], a [`Validating`] or, with the feature `conversion`, a [`Conversion`]. [`server`]
//! serves them over HTTPS, manages the certificate, and makes the API server trust it.

mod admission;
mod certificate;
#[cfg(feature = "conversion")]
pub(crate) mod conversion;
mod defaulting;
mod function;
mod options;
mod patch;
mod registration;
mod rejection;
#[cfg(feature = "testing")]
pub(crate) mod testing;
mod validating;

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{StatusCode, header};
use hyper::body::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};
use tracing::{error, warn};

use crate::Context;
use crate::manager::{self, Runnable, Runs};
use crate::server::{Limits, Server};
use certificate::Source;

pub use admission::{Request, Warnings};
#[cfg(feature = "conversion")]
pub use conversion::{Conversion, ConversionError, Spoke, Version, carry};
pub use defaulting::Defaulting;
pub use function::Function;
pub use options::WebhookOptions;
pub use rejection::Rejection;
pub use validating::Validating;

/// A webhook: a path, and the function that handles it.
///
/// [`Defaulting`], [`Validating`] and [`Conversion`] convert to it with `into()`.
#[derive(Clone)]
pub struct Webhook {
    path: &'static str,
    serves: Serves,
}

#[derive(Clone)]
enum Serves {
    Mutating(Handler),
    Validating(Handler),
    /// The conversions of all kinds share one path.
    #[cfg(feature = "conversion")]
    Conversion(conversion::Versions),
}

/// Handles the body of a request.
type Handler = Arc<dyn Fn(Bytes, Context) -> BoxFuture<'static, Answer> + Send + Sync>;

impl Webhook {
    /// The path that the API server calls, as in the marker of the webhook.
    pub fn path(&self) -> &'static str {
        self.path
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.serves {
            Serves::Mutating(_) => "Mutating",
            Serves::Validating(_) => "Validating",
            #[cfg(feature = "conversion")]
            Serves::Conversion(_) => "Conversion",
        };
        f.debug_struct("Webhook").field("path", &self.path).field("serves", &kind).finish()
    }
}

/// The response of a webhook, and the labels of its metrics.
struct Answer {
    /// The operation of the review, such as `CREATE`; `CONVERT` for conversions.
    operation: &'static str,
    result: WebhookResult,
    response: Response,
}

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum WebhookResult {
    Allowed,
    Refused,
    /// There was no verdict, so that the `failurePolicy` of the webhook applies.
    Failed,
}

impl WebhookResult {
    /// The label in metrics.
    fn label(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

impl Answer {
    fn of(operation: &'static str, result: WebhookResult, review: &impl Serialize) -> Self {
        match serde_json::to_vec(review) {
            Ok(body) => {
                let response = ([(header::CONTENT_TYPE, "application/json")], body).into_response();
                Self { operation, result, response }
            }
            Err(error) => Self::failed(operation, StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    }

    /// A response without a review, for which the API server applies the `failurePolicy`.
    fn failed(operation: &'static str, status: StatusCode, why: String) -> Self {
        let response = (status, why).into_response();
        Self { operation, result: WebhookResult::Failed, response }
    }
}

/// The operation of a request that could not be decoded.
const UNKNOWN: &str = "UNKNOWN";

/// An AdmissionReview or ConversionReview. The types of kube would buffer unknown fields.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review<R> {
    api_version: String,
    kind: String,
    // The full path makes the field required: a missing `request` is another error than a review of another kind.
    #[serde(default = "Option::default")]
    request: Option<R>,
}

const NAME: &str = "webhooks";

/// The server of these webhooks, to be run by the manager beside the controllers. It runs in every replica.
///
/// Its certificate is from the files in `--webhook-cert-dir`; else from a Secret that all replicas share, for the
/// Service `--webhook-service`; else a new one for `--webhook-url`, which only this process serves. In the last two
/// cases, it makes the API server trust the certificate wherever it calls these webhooks: in the configurations
/// `<operator>-mutating-webhook-configuration` and `<operator>-validating-webhook-configuration`, and in the
/// CustomResourceDefinitions of conversions.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use opctl_runtime::Runnable;
/// use opctl_runtime::webhook::{self, Defaulting, Rejection, Request, Validating, Warnings, Webhook};
///
/// async fn default(object: &mut ConfigMap, _: &Request<ConfigMap>) -> Result<(), Rejection> {
///     object.immutable.get_or_insert(false);
///     Ok(())
/// }
///
/// async fn validate(object: &ConfigMap, _: &Request<ConfigMap>) -> Result<Warnings, Rejection> {
///     let mut rejection = Rejection::default();
///     if object.data.is_none() {
///         rejection.required("data", "must not be empty");
///     }
///     rejection.or(Warnings::new())
/// }
///
/// fn all() -> Vec<Webhook> {
///     vec![
///         Defaulting::new("/mutate-v1-configmap", default).into(),
///         Validating::new("/validate-v1-configmap").create(validate).into(),
///     ]
/// }
///
/// fn server() -> Runnable {
///     webhook::server(all())
/// }
/// ```
// +kubebuilder:rbac:groups=core,resources=secrets,resourceNames={operator}-webhook-certificate,verbs=get;update,namespace=system
// `resourceNames` cannot restrict `create`, whose request has no name.
// +kubebuilder:rbac:groups=core,resources=secrets,verbs=create,namespace=system
pub fn server(webhooks: Vec<Webhook>) -> Runnable {
    let webhooks: Arc<[Webhook]> = webhooks.into();
    Runnable::new(NAME, Runs::InEveryReplica, move |ctx| run(webhooks.clone(), ctx))
}

/// Maximum size of a review in bytes: two objects of the largest size.
const LARGEST: usize = 7 << 20;

/// Default timeout of an API server for webhooks.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum timeout of an API server for webhooks.
const LONGEST: Duration = Duration::from_secs(30);

/// Time from the start of the shutdown until connections without a request are closed.
const LEAVE: Duration = Duration::from_secs(1);

async fn run(webhooks: Arc<[Webhook]>, ctx: Context) -> Result<(), manager::Error> {
    let options = &ctx.options.webhook;
    let Some(source) = Source::open(&webhooks, &ctx).await? else {
        if options.enabled {
            warn!("no webhooks are served: set `--webhook-url` to where the API server reaches this process");
        }
        ctx.readiness.reached(NAME);
        ctx.shutdown().await;
        return Ok(());
    };
    if cfg!(panic = "abort") {
        warn!("a panic in a webhook will end the process, since Cargo.toml sets `panic = \"abort\"`");
    }
    let router = router(&webhooks, &ctx)?;
    let limits = Limits { body_size: LARGEST, ..Limits::default() };
    let certificate = Some(source.certificate());
    let server = Server::start(options.webhook_bind_address, router, certificate, limits).await?;
    let mut kept = std::pin::pin!(source.keep(&ctx));
    let ended = tokio::select! {
        ended = kept.as_mut() => ended,
        () = ctx.shutdown() => {
            server.announce_shutdown();
            kept.await
        }
    };
    if server.connections() > 0 {
        server.announce_shutdown();
        sleep(LEAVE).await;
    }
    server.shut_down(PATIENCE).await;
    ended
}

fn router(webhooks: &[Webhook], ctx: &Context) -> Result<Router, io::Error> {
    let mut handlers = BTreeMap::new();
    #[cfg(feature = "conversion")]
    let mut versions = Vec::new();
    for webhook in webhooks {
        let path = webhook.path;
        let handler = match &webhook.serves {
            Serves::Mutating(handler) | Serves::Validating(handler) => handler.clone(),
            #[cfg(feature = "conversion")]
            Serves::Conversion(kind) => {
                versions.push(kind.clone());
                continue;
            }
        };
        if !path.starts_with('/') || path.contains(['{', '}']) {
            return Err(io::Error::other(format!("`{path}` cannot be the path of a webhook")));
        }
        if handlers.insert(path, handler).is_some() {
            return Err(io::Error::other(format!("two webhooks have the path `{path}`")));
        }
    }
    #[cfg(feature = "conversion")]
    if !versions.is_empty() {
        let versions: Arc<[conversion::Versions]> = versions.into();
        let handler = move |body: Bytes, _| {
            let versions = versions.clone();
            async move { conversion::answer(&body, &versions) }.boxed()
        };
        handlers.insert(conversion::PATH, Arc::new(handler));
    }
    let memory = Arc::new(Semaphore::new(DECODED));
    let mut router = Router::new();
    for (path, handler) in handlers {
        let memory = memory.clone();
        let route = async move |State(ctx): State<Context>, RawQuery(query), body: Bytes| {
            let (start, metrics) = (Instant::now(), ctx.metrics.clone());
            let answer = guard(path, limit(query.as_deref()), &memory, body, |body| handler(body, ctx)).await;
            metrics.webhook(path, answer.operation, answer.result.label(), start.elapsed());
            answer.response
        };
        router = router.route(path, post(route));
    }
    Ok(router.with_state(ctx.clone()))
}

/// The timeout of the API server for this request, from its query: `?timeout=10s`.
fn limit(query: Option<&str>) -> Duration {
    let limit = query.and_then(|it| it.strip_prefix("timeout=")?.strip_suffix('s')?.parse().ok());
    limit.map_or(PATIENCE, Duration::from_secs).min(LONGEST)
}

/// Calls a handler, and responds for one that panics or exceeds the limit.
async fn guard(
    path: &str,
    limit: Duration,
    memory: &Semaphore,
    body: Bytes,
    handler: impl FnOnce(Bytes) -> BoxFuture<'static, Answer>,
) -> Answer {
    let Some(cost) = cost(&body) else {
        let why = "the review has too many values".to_owned();
        return Answer::failed(UNKNOWN, StatusCode::PAYLOAD_TOO_LARGE, why);
    };
    let answer = async {
        // Small ones do not wait for large ones.
        let _permit = match cost {
            ..=SMALL => None,
            cost => memory.acquire_many(cost).await.ok(),
        };
        handler(body).await
    };
    let why = match timeout(limit, AssertUnwindSafe(answer).catch_unwind()).await {
        Ok(Ok(answer)) => return answer,
        Ok(Err(panic)) => format!("it panicked: {}", message(&*panic)),
        Err(_) => format!("it took longer than {limit:?}"),
    };
    error!(path, "a webhook failed: {why}");
    Answer::failed(UNKNOWN, StatusCode::INTERNAL_SERVER_ERROR, why)
}

/// Memory limit of all decoded reviews together, in KiB. Two bytes of JSON can take a hundred bytes once decoded.
const DECODED: usize = 64 << 10;

/// A review up to this size, in KiB, does not wait for memory.
const SMALL: u32 = 256;

/// Maximum memory of a decoded review, in KiB; `None` if it is too much even for a single one.
fn cost(body: &[u8]) -> Option<u32> {
    let values = body.iter().filter(|byte| **byte == b',').count();
    let kibibytes = (body.len() + 100 * values) >> 10;
    let cost = u32::try_from(kibibytes.min(DECODED)).ok();
    cost.filter(|_| values <= 1 << 20)
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    let borrowed = || panic.downcast_ref::<&str>().copied();
    owned.or_else(borrowed).unwrap_or("without a message")
}

#[cfg(test)]
mod tests;
