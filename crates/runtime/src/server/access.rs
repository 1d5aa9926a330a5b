//! Who may read the metrics: those of whom the API server says that they may `get` the path.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use k8s_openapi::api::authentication::v1::TokenReview;
use k8s_openapi::api::authorization::v1::{NonResourceAttributes, SubjectAccessReview};
use kube::Client;
use kube::api::{Api, PostParams};
use tracing::warn;

use crate::brief;

/// Less than Prometheus waits for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Lets a request pass whose bearer token may make it.
pub async fn guard(State(client): State<Client>, request: Request, next: Next) -> Response {
    let header = request.headers().get(header::AUTHORIZATION);
    let token = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let Some(token) = token.map(str::to_owned) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let path = request.uri().path().to_owned();
    match tokio::time::timeout(PATIENCE, ask(client, token, path)).await {
        Ok(Ok(StatusCode::OK)) => return next.run(request).await,
        Ok(Ok(refused)) => return refused.into_response(),
        Ok(Err(error)) => warn!("cannot ask who reads the metrics: {}", brief(&error)),
        Err(_) => warn!("cannot ask who reads the metrics: no answer in {PATIENCE:?}"),
    }
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}

/// Asks anew for each request: two small ones every some seconds, and a right that is taken away is gone at once.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create,roleName=metrics-auth-role
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create,roleName=metrics-auth-role
async fn ask(client: Client, token: String, path: String) -> Result<StatusCode, kube::Error> {
    let params = PostParams::default();
    let mut who = TokenReview::default();
    who.spec.token = token;
    let who = Api::all(client.clone()).create(&params, &who).await?;
    let Some((true, user)) = who.status.and_then(|it| Some((it.authenticated?, it.user?))) else {
        return Ok(StatusCode::UNAUTHORIZED);
    };
    let mut may = SubjectAccessReview::default();
    may.spec.user = user.username;
    may.spec.uid = user.uid;
    may.spec.groups = user.groups;
    may.spec.extra = user.extra;
    may.spec.non_resource_attributes = Some(NonResourceAttributes { path: Some(path), verb: Some("get".to_owned()) });
    let may = Api::all(client).create(&params, &may).await?;
    Ok(match may.status {
        Some(status) if status.allowed => StatusCode::OK,
        _ => StatusCode::FORBIDDEN,
    })
}
