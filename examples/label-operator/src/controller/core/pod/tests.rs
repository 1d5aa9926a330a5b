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

//! `reconcile` against a mocked API server: which requests it makes, and what becomes of their failures.

use opctl_runtime::testing::{self, Call};
use serde_json::Value;

use super::*;

#[tokio::test]
async fn labels_a_pod_that_asks_for_it() {
    let (calls, action) = reconciled(pod("web", json!({ ANNOTATION: "true" }), json!({}))).await;
    let [call] = &calls[..] else {
        panic!("one request: {calls:?}")
    };
    assert_eq!((call.method.as_str(), call.path.as_str()), ("PATCH", PATH));
    assert_eq!(call.body["metadata"]["labels"], json!({ LABEL: "web" }));
    assert_eq!(call.body["metadata"]["resourceVersion"], "7");
    assert_eq!(action, Action::await_change());
}

#[tokio::test]
async fn corrects_a_label_with_another_value() {
    let labels = json!({ "app": "web", LABEL: "other" });
    let (calls, _) = reconciled(pod("web", json!({ ANNOTATION: "true" }), labels)).await;
    assert_eq!(calls[0].body["metadata"]["labels"], json!({ LABEL: "web" }));
}

#[tokio::test]
async fn takes_the_label_away_where_nothing_asks_for_it() {
    for annotations in [
        json!({}),
        json!({ ANNOTATION: "false" }),
        json!({ ANNOTATION: "yes" }),
    ] {
        let (calls, _) = reconciled(pod("web", annotations, json!({ LABEL: "web" }))).await;
        assert_eq!(calls[0].body["metadata"]["labels"], json!({ LABEL: null }));
    }
}

#[tokio::test]
async fn asks_for_nothing_when_all_is_well() {
    let labelled = pod(
        "web",
        json!({ ANNOTATION: "true" }),
        json!({ LABEL: "web" }),
    );
    let unlabelled = pod("web", json!({}), json!({ "app": "web" }));
    for pod in [labelled, unlabelled] {
        assert_eq!(reconciled(pod).await, (vec![], Action::await_change()));
    }
}

#[tokio::test]
async fn labels_a_pod_with_a_name_that_just_fits() {
    let name = "a".repeat(63);
    let (calls, _) = reconciled(pod(&name, json!({ ANNOTATION: "true" }), json!({}))).await;
    assert_eq!(calls[0].body["metadata"]["labels"], json!({ LABEL: name }));
}

#[tokio::test]
async fn says_on_an_event_that_a_name_is_too_long() {
    let name = "a".repeat(64);
    let (calls, _) = reconciled(pod(&name, json!({ ANNOTATION: "true" }), json!({}))).await;
    let [call] = &calls[..] else {
        panic!("no other request: {calls:?}")
    };
    assert!(call.path.ends_with("/events"), "{}", call.path);
    assert_eq!(call.body["reason"], "NameTooLong");
    assert_eq!(call.body["regarding"]["name"], name.as_str());
}

#[tokio::test]
async fn tries_again_soon_when_the_pod_has_changed_or_is_gone() {
    for (code, reason) in [(409, "Conflict"), (404, "NotFound")] {
        assert_eq!(refused(code, reason).await.unwrap(), Action::requeue(SOON));
    }
}

#[tokio::test]
async fn fails_with_a_reason_otherwise() {
    let error = refused(403, "Forbidden").await.unwrap_err();
    assert_eq!(error.reason(), "RequestFailed");
}

const PATH: &str = "/api/v1/namespaces/default/pods/web";

/// A Pod as the API server sends it when it is asked for metadata.
fn pod(name: &str, annotations: Value, labels: Value) -> Value {
    json!({
        "apiVersion": "meta.k8s.io/v1",
        "kind": "PartialObjectMetadata",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": "1",
            "resourceVersion": "7",
            "annotations": annotations,
            "labels": labels,
        },
    })
}

/// Reconciles once, and gives the requests that were made and what comes next.
async fn reconciled(pod: Value) -> (Vec<Call>, Action) {
    let answer = pod.clone();
    let (ctx, calls) = testing::context_with(move |call| match call.path.ends_with("/events") {
        true => (201, call.body.clone()),
        false => (200, answer.clone()),
    });
    let action = reconcile(Arc::new(serde_json::from_value(pod).unwrap()), ctx).await;
    (calls.take(), action.unwrap())
}

/// What comes of a Pod that the API server does not let label.
async fn refused(code: u16, reason: &'static str) -> Result<Action> {
    let (ctx, _calls) = testing::context_with(move |_| (code, testing::status(code, reason)));
    let pod = pod("web", json!({ ANNOTATION: "true" }), json!({}));
    reconcile(Arc::new(serde_json::from_value(pod).unwrap()), ctx).await
}
