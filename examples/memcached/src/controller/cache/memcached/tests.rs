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

//! `reconcile` against a mocked API server: what it asks for, and what it says in the status.

use serde_json::{Value, json};

use super::*;
use crate::mock;

#[tokio::test]
async fn creates_a_deployment_that_the_object_owns() {
    let cluster = Cluster {
        observed: 0,
        ..Cluster::default()
    };
    let calls = cluster.reconcile(3, json!({})).await;

    assert_eq!(calls.len(), 1, "nothing is known for the status");
    assert_eq!(calls[0].method, "PATCH");
    assert_eq!(
        calls[0].path,
        "/apis/apps/v1/namespaces/default/deployments/sample"
    );
    let deployment = &calls[0].body;
    assert_eq!(deployment["spec"]["replicas"], 3);
    let owner = &deployment["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["uid"], &owner["controller"]),
        (&json!("1"), &json!(true))
    );
    let template = &deployment["spec"]["template"];
    assert_eq!(
        template["metadata"]["labels"],
        deployment["spec"]["selector"]["matchLabels"]
    );
}

#[tokio::test]
async fn follows_a_change_of_the_size() {
    let cluster = Cluster::default();
    let settled = cluster.reconcile(3, json!({})).await[2].body["status"].clone();
    let calls = cluster.reconcile(4, settled).await;
    assert_eq!(calls[0].body["spec"]["replicas"], 4);
    assert_eq!(ready(&calls)["reason"], "Progressing");
}

#[tokio::test]
async fn applies_the_deployment_again_when_all_seems_well() {
    let cluster = Cluster::default();
    let first = cluster.reconcile(3, json!({})).await;
    let second = cluster.reconcile(3, first[2].body["status"].clone()).await;
    assert_eq!(
        second,
        first[..2],
        "the same requests, but for the status and its event"
    );
}

#[tokio::test]
async fn writes_nothing_because_of_a_condition_of_others() {
    let cluster = Cluster::default();
    let mut settled = cluster.reconcile(3, json!({})).await[2].body["status"].clone();
    let mut other = settled["conditions"][0].clone();
    other["type"] = "Reviewed".into();
    settled["conditions"]
        .as_array_mut()
        .unwrap()
        .insert(0, other);
    assert_eq!(cluster.reconcile(3, settled).await.len(), 2);
}

#[tokio::test]
async fn is_progressing_until_every_replica_is_available() {
    let cluster = Cluster {
        available: 2,
        ..Cluster::default()
    };
    let calls = cluster.reconcile(3, json!({})).await;
    assert_eq!(ready(&calls)["status"], "False");
    assert_eq!(ready(&calls)["reason"], "Progressing");
    assert_eq!(
        ready(&calls)["message"],
        "3 of 3 replicas are up to date, 2 available"
    );
    assert_eq!(calls.len(), 3, "no event about that");
}

#[tokio::test]
async fn does_not_trust_numbers_about_an_older_spec() {
    let cluster = Cluster {
        observed: 6,
        ..Cluster::default()
    };
    assert_eq!(cluster.reconcile(3, json!({})).await.len(), 1);
}

/// Its own writes are not: a Deployment is news once its status is about them, and when it is gone.
#[test]
fn what_was_written_a_moment_ago_is_no_news() {
    let deployment = |observed: i64| {
        let metadata = json!({ "generation": 7 });
        let status = json!({ "observedGeneration": observed });
        serde_json::from_value(json!({ "metadata": metadata, "status": status })).unwrap()
    };
    assert!(!is_news(&watcher::Event::Apply(deployment(6))));
    assert!(is_news(&watcher::Event::Apply(deployment(7))));
    assert!(is_news(&watcher::Event::Delete(deployment(6))));
}

#[tokio::test]
async fn is_ready_with_the_names_of_the_pods() {
    let calls = Cluster::default().reconcile(3, json!({})).await;
    assert_eq!(calls[2].path, format!("{OBJECT}/status"));
    let status = &calls[2].body["status"];
    assert_eq!(status["nodes"], json!(["sample-a", "sample-b", "sample-c"]));
    assert_eq!(status["replicas"], 3);
    assert_eq!(
        status["selector"],
        "app.kubernetes.io/name=memcached,app.kubernetes.io/managed-by=memcached-operator,app.kubernetes.io/instance=sample"
    );
    assert_eq!(status["observedGeneration"], 2);
    assert_eq!(ready(&calls)["type"], "Ready");
    assert_eq!(ready(&calls)["status"], "True");
    assert_eq!(ready(&calls)["reason"], "Available");
    assert_eq!(calls[3].body["reason"], "Available", "an event");
}

#[tokio::test]
async fn looks_for_no_pods_where_the_deployment_has_none() {
    let cluster = Cluster {
        replicas: 0,
        available: 0,
        ..Cluster::default()
    };
    let calls = cluster.reconcile(3, json!({})).await;
    let paths: Vec<&str> = calls.iter().map(|call| call.path.as_str()).collect();
    assert_eq!(paths.len(), 2, "{paths:?}");
    assert_eq!(calls[1].path, format!("{OBJECT}/status"));
}

#[tokio::test]
async fn says_why_it_failed_and_keeps_the_names_of_the_pods() {
    let (ctx, calls) = mock::context(|call| match call.path.ends_with("/status") {
        true => (200, call.body.clone()),
        false => (409, mock::status(409, "Conflict")),
    });
    let object = object(3, json!({ "nodes": ["sample-a"] }));

    let error = reconcile(object, ctx).await.unwrap_err();
    assert_eq!(error.reason(), "RequestFailed");
    let calls = calls.take();
    let status = &calls[1].body["status"];
    assert_eq!(status["nodes"], json!(["sample-a"]));
    assert_eq!(status["conditions"][0]["status"], "False");
    assert_eq!(status["conditions"][0]["reason"], "RequestFailed");
}

#[tokio::test]
async fn adds_the_finalizer_before_anything_else() {
    let (ctx, calls) = mock::context(|_| (200, json!(*object(3, json!({})))));
    let mut object = Arc::unwrap_or_clone(object(3, json!({})));
    object.metadata.finalizers = None;
    let action = reconcile(Arc::new(object), ctx).await.unwrap();
    assert_eq!(action, Action::await_change(), "the patch is an event");
    let calls = calls.take();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].path, OBJECT);
    assert_eq!(calls[0].body[1]["value"], json!([FINALIZER]));
}

#[tokio::test]
async fn puts_the_end_on_record_and_lets_the_object_go() {
    let (ctx, calls) = mock::context(|call| match call.method.as_str() {
        "POST" => (201, call.body.clone()),
        _ => (200, json!(*object(3, json!({})))),
    });
    reconcile(deleted(), ctx).await.unwrap();
    let calls = calls.take();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0].body["reason"], "CleanedUp");
    assert_eq!(calls[1].path, OBJECT);
    assert_eq!(
        calls[1].body[1],
        json!({ "op": "remove", "path": "/metadata/finalizers/0" })
    );
}

#[tokio::test]
async fn lets_the_object_go_only_as_its_finalizers_are() {
    let (ctx, _) = mock::context(|call| match call.method.as_str() {
        "POST" => (201, call.body.clone()),
        _ => (422, mock::status(422, "Invalid")),
    });
    let action = reconcile(deleted(), ctx).await.unwrap();
    assert_ne!(action, Action::await_change(), "so there is another try");
}

/// What the API server knows about the Deployment, whose generation is 7, and about three Pods and one that is going.
struct Cluster {
    observed: i64,
    replicas: i32,
    available: i32,
}

impl Default for Cluster {
    fn default() -> Self {
        Self {
            observed: 7,
            replicas: 3,
            available: 3,
        }
    }
}

impl Cluster {
    /// Reconciles once and returns the requests: for the Deployment, the Pods and, if it changes, the status.
    async fn reconcile(&self, size: i32, status: Value) -> Vec<mock::Call> {
        let deployment = json!({
            "metadata": { "generation": 7 },
            "status": {
                "observedGeneration": self.observed,
                "replicas": self.replicas,
                "updatedReplicas": 3,
                "availableReplicas": self.available,
            },
        });
        let (ctx, calls) = mock::context(move |call| {
            let answer = match call.path.rsplit('/').next().unwrap() {
                "pods" => json!({ "metadata": {}, "items": [
                    { "metadata": { "name": "sample-c" } },
                    { "metadata": { "name": "sample-a" } },
                    { "metadata": { "name": "sample-old", "deletionTimestamp": "2025-01-01T00:00:00Z" } },
                    { "metadata": { "name": "sample-b" } },
                ] }),
                "status" => call.body.clone(),
                _ => deployment.clone(),
            };
            (200, answer)
        });
        reconcile(object(size, status), ctx).await.unwrap();
        calls.take()
    }
}

const OBJECT: &str = "/apis/cache.example.com/v1alpha1/namespaces/default/memcacheds/sample";

/// An object as the API server sends it.
fn object(size: i32, status: Value) -> Arc<Memcached> {
    let object = json!({
        "apiVersion": "cache.example.com/v1alpha1",
        "kind": "Memcached",
        "metadata": {
            "name": "sample", "namespace": "default", "uid": "1", "generation": 2, "finalizers": [FINALIZER],
        },
        "spec": { "size": size },
        "status": status,
    });
    Arc::new(serde_json::from_value(object).unwrap())
}

fn deleted() -> Arc<Memcached> {
    let mut object = Arc::unwrap_or_clone(object(3, json!({})));
    object.metadata.deletion_timestamp =
        serde_json::from_value(json!("2025-01-01T00:00:00Z")).unwrap();
    Arc::new(object)
}

/// The condition in the status that was written.
fn ready(calls: &[mock::Call]) -> &Value {
    &calls[2].body["status"]["conditions"][0]
}
