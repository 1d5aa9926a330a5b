// Copyright The opctl Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

//! Serves the probes and the metrics.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Router, middleware};
use axum_server::Server;
use axum_server::tls_rustls::RustlsAcceptor;
use hyper_util::rt::TokioTimer;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::tls::Certificate;
use super::{Context, Error, Options, access};

/// How long a client may take for the head of a request: longer than Prometheus pauses, which keeps its connection.
const IDLE: Duration = Duration::from_secs(90);

/// Serves until the set is dropped.
pub async fn start(options: &Options, ctx: &Context) -> Result<JoinSet<()>, Error> {
    let mut servers = JoinSet::new();
    let probes = Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .with_state(ctx.clone());
    let address = options.health_probe_bind_address;
    serve(&mut servers, address, probes, None).await?;
    if let Some(address) = options.metrics_bind_address {
        let mut metrics = Router::new()
            .route("/metrics", get(metrics))
            .with_state(ctx.clone());
        let mut certificate = None;
        if options.metrics_secure {
            let guard = middleware::from_fn_with_state(ctx.client.clone(), access::guard);
            metrics = metrics.route_layer(guard);
            certificate = Some(Certificate::new(options.metrics_cert_path.clone())?);
        }
        serve(&mut servers, address, metrics, certificate).await?;
    }
    Ok(servers)
}

/// Serves HTTP, or with a certificate HTTPS, until the set is dropped.
pub async fn serve(
    servers: &mut JoinSet<()>,
    address: SocketAddr,
    router: Router,
    certificate: Option<Certificate>,
) -> Result<(), Error> {
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|source| Error::Bind { address, source })?;
    let mut server = Server::<SocketAddr>::from_listener(listener).http1_only();
    let mut http = server.http_builder().http1();
    http.timer(TokioTimer::new()).header_read_timeout(IDLE);
    let service = router.into_make_service();
    // They never return: errors of single connections are axum-server's to handle.
    if let Some(certificate) = certificate {
        let server = server.acceptor(RustlsAcceptor::new(certificate.config.clone()));
        servers.spawn(async move { drop(server.serve(service).await) });
        servers.spawn(certificate.follow());
    } else {
        servers.spawn(async move { drop(server.serve(service).await) });
    }
    Ok(())
}

/// Whether every controller has seen all its objects once.
async fn ready(State(ctx): State<Context>) -> (StatusCode, String) {
    match ctx.readiness.missing().as_slice() {
        [] => (StatusCode::OK, "ok".to_owned()),
        missing => (
            StatusCode::SERVICE_UNAVAILABLE,
            format!("waiting for {}", missing.join(", ")),
        ),
    }
}

async fn metrics(State(ctx): State<Context>) -> impl IntoResponse {
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, content_type)], ctx.metrics.text())
}

#[cfg(test)]
mod tests;
