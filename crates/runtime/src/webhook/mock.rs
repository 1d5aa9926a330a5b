//! What the API server asks, for unit tests of webhooks.

use axum::body::to_bytes;
use axum::response::Response;
use serde_json::{Value, json};

use super::Webhook;
use crate::manager::Context;
use crate::mock;

/// Asks a webhook about an object; gives the `response` of its review. The operation is `CREATE`, `UPDATE` from the same object, or
/// `DELETE`.
///
/// The cluster has nothing: a webhook that asks it is tested by a function of its own.
pub async fn ask(webhook: &Webhook, operation: &str, object: Value) -> Value {
    let body = review(operation, object).to_string();
    let (status, mut answer) = read((webhook.answer)(body.into(), context()).await).await;
    assert_eq!(status, 200, "{answer}");
    answer["response"].take()
}

pub fn review(operation: &str, object: Value) -> Value {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let (group, version) = version.split_once('/').unwrap_or(("", &version));
    let there = |is_there: bool| is_there.then(|| object.clone());
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "1",
            "kind": { "group": group, "version": version, "kind": kind },
            "resource": { "group": group, "version": version, "resource": "" },
            "name": text(&object["metadata"]["name"]),
            "operation": operation,
            "userInfo": { "username": "somebody" },
            "object": there(operation != "DELETE"),
            "oldObject": there(operation != "CREATE"),
            "dryRun": false,
        },
    })
}

/// Status and body.
pub async fn read(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let text = || String::from_utf8_lossy(&body).into();
    (
        status,
        serde_json::from_slice(&body).unwrap_or_else(|_| text()),
    )
}

pub fn context() -> Context {
    Context::clone(&mock::context(|_| (404, mock::status(404, "NotFound"))).0)
}
