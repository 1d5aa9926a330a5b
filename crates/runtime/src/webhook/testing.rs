//! AdmissionReviews for unit tests of webhooks.

use std::collections::BTreeSet;
use std::path::Path;

use hyper::body::Bytes;
use serde_json::{Value, json};

use super::{Answer, Serves, Webhook};
use crate::Context;
use crate::testing::{context_with, status};

/// Sends an object to an admission webhook and returns the `response` of its review. The operation is `CREATE`,
/// `UPDATE` (with the same object as the old one) or `DELETE`.
///
/// All requests of the webhook to the API server get a 404. If validation depends on other objects, test its function
/// instead.
///
/// # Panics
///
/// If the webhook is a conversion, or responds with an HTTP error.
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

/// Checks that the manifests in `config/` of the project in this folder register exactly these webhooks, each with the
/// same type.
///
/// # Panics
///
/// If they differ; the message lists the webhooks of both.
pub fn assert_webhooks(project: &str, webhooks: &[Webhook]) {
    let served = webhooks.iter().map(|webhook| match &webhook.serves {
        Serves::Mutating(_) => ("MutatingWebhookConfiguration".to_owned(), webhook.path.to_owned()),
        Serves::Validating(_) => ("ValidatingWebhookConfiguration".to_owned(), webhook.path.to_owned()),
        #[cfg(feature = "conversion")]
        Serves::Conversion(versions) => (versions.crd.clone(), webhook.path.to_owned()),
    });
    let served = BTreeSet::from_iter(served);
    let config = Path::new(project).join("config");
    let crds = config.join("crd/bases").read_dir().into_iter().flatten().flatten();
    let files = crds.map(|entry| entry.path()).chain([config.join("webhook/manifests.yaml")]);
    let manifests: BTreeSet<_> = files.flat_map(|file| called(&file)).collect();
    assert_eq!(served, manifests, "the webhooks of the operator, and those in config/, differ: run `opctl manifests`");
}

/// The webhooks in a file: pairs of the kind of configuration, or the name of the CRD, and a path.
fn called(file: &Path) -> Vec<(String, String)> {
    let mut called = Vec::new();
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let objects: Vec<Value> =
        serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    for object in objects {
        let mut add = |name: &Value, webhook: &Value| {
            let [name, path] = [name, &webhook["clientConfig"]["service"]["path"]].map(Value::as_str);
            called.extend(name.zip(path).map(|(name, path)| (name.to_owned(), path.to_owned())));
        };
        let webhooks = object["webhooks"].as_array().into_iter().flatten();
        webhooks.for_each(|webhook| add(&object["kind"], webhook));
        add(&object["metadata"]["name"], &object["spec"]["conversion"]["webhook"]);
    }
    called
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

/// HTTP status and body.
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
