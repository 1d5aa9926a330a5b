//! The HTTPS server that the API server calls: a path for each webhook.

pub mod admission;
mod certificate;
#[cfg(test)]
pub mod mock;
mod options;
mod patch;
pub mod registration;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Router, middleware};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde::Serialize;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{error, warn};

use crate::manager::{self, Context, Runnable, Runs};
use crate::server;
use crate::webhook;
use certificate::Source;

pub use options::WebhookOptions;
pub use registration::Registration;

/// One path that the API server calls.
pub struct Webhook {
    /// As its marker says it.
    pub path: &'static str,
    /// From the body of a request to the whole response.
    pub answer: fn(Bytes, Context) -> BoxFuture<'static, Response>,
}

/// What `controller::all` lists.
pub const SERVER: Runnable = Runnable {
    name: "webhooks",
    runs: Runs::InEveryReplica,
    run: |ctx| Box::pin(run(ctx)),
};

/// As much as two objects of the largest size take in a review.
const LARGEST: usize = 7 << 20;

/// How long an API server waits unless it is told otherwise.
const PATIENCE: Duration = Duration::from_secs(10);

/// From the beginning of the shutdown to the end of connections on which nothing was asked.
const LEAVE: Duration = Duration::from_secs(1);

async fn run(ctx: Context) -> Result<(), manager::Error> {
    let options = &ctx.options.webhook;
    let Some(source) = Source::open(&ctx).await? else {
        if options.enabled {
            warn!("no webhooks: say by `--webhook-url` where the API server finds this process");
        }
        ctx.readiness.reached(SERVER.name);
        ctx.shutdown().await;
        return Ok(());
    };
    if cfg!(panic = "abort") {
        warn!("a panic in a webhook will end the process: Cargo.toml has `panic = \"abort\"`");
    }
    let mut servers = JoinSet::new();
    let address = options.webhook_bind_address;
    let certificate = Some(source.certificate());
    let server = server::serve(&mut servers, address, router(&ctx), certificate).await?;
    let ended = source.keep(&ctx).await;
    if server.connection_count() > 0 {
        sleep(LEAVE).await;
    }
    // What is asked already is answered.
    server.graceful_shutdown(Some(PATIENCE));
    while server.connection_count() > 0 {
        sleep(Duration::from_millis(10)).await;
    }
    ended
}

/// All paths.
pub fn router(ctx: &Context) -> Router {
    let mut router = Router::new();
    for Webhook { path, answer } in webhook::all() {
        let handler = async move |State(ctx), RawQuery(query), body| {
            guard(path, limit(query.as_deref()), answer(body, ctx)).await
        };
        router = router.route(path, post(handler));
    }
    router
        .layer(DefaultBodyLimit::max(LARGEST))
        .layer(middleware::map_response_with_state(ctx.clone(), part))
        .with_state(ctx.clone())
}

/// At shutdown each answer ends its connection: one that is closed unasked may have a request on its way, which is then lost.
async fn part(State(ctx): State<Context>, mut response: Response) -> Response {
    if ctx.shutdown().now_or_never().is_some() {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    response
}

/// What a webhook has to say.
pub fn json(answer: &impl Serialize) -> Response {
    match serde_json::to_vec(answer) {
        Ok(body) => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// How long the API server waits, which it says with each request: `?timeout=10s`.
fn limit(query: Option<&str>) -> Duration {
    let said = query.and_then(|it| it.strip_prefix("timeout=")?.strip_suffix('s')?.parse().ok());
    said.map_or(PATIENCE, Duration::from_secs)
}

/// An answer in time. Where there is none, `failurePolicy` decides.
async fn guard(path: &str, limit: Duration, answer: BoxFuture<'static, Response>) -> Response {
    let why = match timeout(limit, AssertUnwindSafe(answer).catch_unwind()).await {
        Ok(Ok(response)) => return response,
        Ok(Err(panic)) => format!("it panicked: {}", text(&*panic)),
        Err(_) => format!("it took longer than {limit:?}"),
    };
    error!(path, "a webhook failed: {why}");
    (StatusCode::INTERNAL_SERVER_ERROR, why).into_response()
}

fn text(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    let borrowed = || panic.downcast_ref::<&str>().copied();
    owned.or_else(borrowed).unwrap_or("without a text")
}

#[cfg(test)]
mod tests;
