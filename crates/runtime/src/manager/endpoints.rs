//! What the operator tells of itself by HTTP: probes for the kubelet, metrics for Prometheus.

use std::io;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Router, middleware};
use tokio::task::JoinSet;

use crate::Context;
use crate::server::{Certificate, access, serve};

/// Serves until the set is dropped.
pub async fn start(ctx: &Context) -> io::Result<JoinSet<()>> {
    let options = &ctx.options;
    let mut servers = JoinSet::new();
    let probes =
        Router::new().route("/healthz", get(|| async { "ok" })).route("/readyz", get(ready)).with_state(ctx.clone());
    let address = options.health_probe_bind_address;
    serve(&mut servers, address, probes, None).await?;
    if let Some(address) = options.metrics_bind_address {
        let mut router = Router::new().route("/metrics", get(metrics)).with_state(ctx.clone());
        let mut certificate = None;
        if options.metrics_secure {
            let guard = middleware::from_fn_with_state(ctx.client.clone(), access::guard);
            router = router.route_layer(guard);
            certificate = Some(Certificate::new(options.metrics_cert_path.clone())?);
        }
        serve(&mut servers, address, router, certificate).await?;
    }
    Ok(servers)
}

/// Whether every controller has seen all its objects once.
async fn ready(State(ctx): State<Context>) -> (StatusCode, String) {
    let missing = ctx.readiness.missing();
    if missing.is_empty() {
        return (StatusCode::OK, "ok".to_owned());
    }
    let waiting = format!("waiting for {}", missing.join(", "));
    (StatusCode::SERVICE_UNAVAILABLE, waiting)
}

async fn metrics(State(ctx): State<Context>) -> impl IntoResponse {
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, content_type)], ctx.metrics.text())
}

#[cfg(test)]
mod tests;
