//! What the API server asks, for unit tests of webhooks.

use hyper::body::Bytes;
use serde_json::{Value, json};

use super::{Answer, Serves, Webhook};
use crate::Context;
use crate::testing::{context_with, status};

/// Asks an admission webhook about an object and returns the `response` of its review. The operation is `CREATE`; `UPDATE`, where the
/// old object is the same; or `DELETE`.
///
/// Each request of the webhook to the API server is answered with 404: one that depends on other objects is better tested by a
/// function of its own.
///
/// # Panics
///
/// If the webhook is a conversion, or answers with an HTTP error.
pub async fn ask(webhook: &Webhook, operation: &str, object: Value) -> Value {
    let handler = match &webhook.serves {
        Serves::Mutating(handler) | Serves::Validating(handler) => handler,
        #[cfg(feature = "conversion")]
        Serves::Conversion(_) => panic!("a conversion is tested by `round_trip`"),
    };
    let body = review(operation, object).to_string();
    let (status, mut answer) = read(handler(body.into(), empty_cluster()).await).await;
    assert_eq!(status, 200, "{answer}");
    answer["response"].take()
}

pub(super) fn review(operation: &str, object: Value) -> Value {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let (group, version) = version.split_once('/').unwrap_or(("", &version));
    let object_if = |condition: bool| condition.then(|| object.clone());
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
            "object": object_if(operation != "DELETE"),
            "oldObject": object_if(operation != "CREATE"),
            "dryRun": false,
        },
    })
}

/// Status and body.
pub(super) async fn read(answer: Answer) -> (u16, Value) {
    let status = answer.response.status().as_u16();
    let body = axum::body::to_bytes(answer.response.into_body(), usize::MAX).await;
    let body: Bytes = body.expect("the body is in memory");
    let text = || String::from_utf8_lossy(&body).into();
    (status, serde_json::from_slice(&body).unwrap_or_else(|_| text()))
}

pub(super) fn empty_cluster() -> Context {
    Context::clone(&context_with(|_| (404, status(404, "NotFound"))).0)
}
