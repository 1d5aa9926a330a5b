//! The HTTP servers of every operator: probes for the kubelet, metrics for Prometheus.

use std::io;

use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Router, middleware};
use http::{StatusCode, header};

use crate::Context;
use crate::server::{Access, Certificate, Limits, Server};

/// Maximum number of connections: there are few clients.
const CONNECTIONS: usize = 64;

/// Starts the servers. Dropping them stops them.
pub async fn start(ctx: &Context) -> io::Result<Vec<Server>> {
    let options = &ctx.options;
    let limits = Limits { connections: CONNECTIONS, ..Limits::default() };
    let probes =
        Router::new().route("/healthz", get(|| async { "ok" })).route("/readyz", get(ready)).with_state(ctx.clone());
    let address = options.health_probe_bind_address;
    let mut servers = vec![Server::start(address, probes, None, limits.clone()).await?];
    if let Some(address) = options.metrics_bind_address {
        let mut router = Router::new().route("/metrics", get(metrics)).with_state(ctx.clone());
        let mut certificate = None;
        if options.metrics_secure {
            let access = Access::new(ctx.client.clone());
            router = router.route_layer(middleware::from_fn_with_state(access, Access::guard));
            certificate = Some(match options.metrics_cert_path.clone() {
                Some(folder) => Certificate::from_folder(folder)?,
                None => Certificate::self_signed()?,
            });
        }
        servers.push(Server::start(address, router, certificate, limits).await?);
    }
    Ok(servers)
}

/// Handles `/readyz`: fails until every controller has listed its objects and every server is ready.
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
