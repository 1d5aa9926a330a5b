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

//! Serves the probes and the metrics over HTTP.

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::net::TcpListener;

use super::Context;

/// Serves until it is dropped.
pub async fn serve(listener: TcpListener, ctx: Context) {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(ctx);
    // It never returns: errors of single connections are axum's to handle.
    let _ = axum::serve(listener, router).await;
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
mod tests {
    use super::*;
    use crate::manager::mock;

    #[tokio::test]
    async fn is_ready_once_every_part_is() {
        let (client, _calls) = mock::api_server(|_| (404, mock::status(404, "NotFound")));
        let ctx = Context::new(client);
        ctx.readiness.wait_for("a");
        ctx.readiness.wait_for("b");
        ctx.readiness.reached("a");
        let (status, text) = ready(State(ctx.clone())).await;
        assert_eq!(
            (status, text.as_str()),
            (StatusCode::SERVICE_UNAVAILABLE, "waiting for b")
        );
        ctx.readiness.reached("b");
        assert_eq!(ready(State(ctx)).await.0, StatusCode::OK);
    }
}
