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
use crate::manager::mock;

#[tokio::test]
async fn creates_a_deployment_that_the_object_owns() {
    let cluster = Cluster {
        available: 0,
        ..Cluster::default()
    };
    let calls = cluster.reconcile(3, json!({})).await;

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
    assert_eq!(second, first[..2], "the same requests, but for the status");
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
}

#[tokio::test]
async fn does_not_trust_numbers_about_an_older_spec() {
    let cluster = Cluster {
        observed: 6,
        ..Cluster::default()
    };
    assert_eq!(
        ready(&cluster.reconcile(3, json!({})).await)["reason"],
        "Progressing"
    );
}

#[tokio::test]
async fn is_ready_with_the_names_of_the_pods() {
    let calls = Cluster::default().reconcile(3, json!({})).await;
    assert_eq!(
        calls[2].path,
        "/apis/cache.example.com/v1alpha1/namespaces/default/memcacheds/sample/status"
    );
    let status = &calls[2].body["status"];
    assert_eq!(status["nodes"], json!(["sample-a", "sample-b", "sample-c"]));
    assert_eq!(status["observedGeneration"], 2);
    assert_eq!(ready(&calls)["type"], "Ready");
    assert_eq!(ready(&calls)["status"], "True");
    assert_eq!(ready(&calls)["reason"], "Available");
}

#[tokio::test]
async fn says_why_it_failed_and_keeps_the_names_of_the_pods() {
    let (client, calls) = mock::api_server(|call| match call.path.ends_with("/status") {
        true => (200, call.body.clone()),
        false => (409, mock::status(409, "Conflict")),
    });
    let ctx = Arc::new(Context::new(client));
    let object = object(3, json!({ "nodes": ["sample-a"] }));

    let error = reconcile(object.clone(), ctx.clone()).await.unwrap_err();
    let calls = calls.take();
    let status = &calls[1].body["status"];
    assert_eq!(status["nodes"], json!(["sample-a"]));
    assert_eq!(status["conditions"][0]["status"], "False");
    assert_eq!(status["conditions"][0]["reason"], "RequestFailed");

    let first = error_policy(object.clone(), &error, ctx.clone());
    assert_ne!(
        first,
        error_policy(object, &error, ctx.clone()),
        "it waits longer each time"
    );
    assert!(ctx.metrics.text().contains("RequestFailed"));
}

#[tokio::test]
async fn leaves_an_object_alone_that_is_being_deleted() {
    let (client, calls) = mock::api_server(|_| (500, mock::status(500, "InternalError")));
    let mut object = Arc::unwrap_or_clone(object(3, json!({})));
    object.metadata.deletion_timestamp =
        serde_json::from_value(json!("2025-01-01T00:00:00Z")).unwrap();
    reconcile(Arc::new(object), Arc::new(Context::new(client)))
        .await
        .unwrap();
    assert_eq!(calls.take(), []);
}

#[test]
fn a_pod_leads_to_its_object() {
    let labels = deployment::deployment(&object(1, json!({})))
        .metadata
        .labels;
    let mut pod = Pod::default();
    assert_eq!(deployment::owner(pod.clone()), None);
    pod.metadata.labels = labels;
    pod.metadata.namespace = Some("default".to_owned());
    let owner = deployment::owner(pod).unwrap();
    assert_eq!(
        (owner.name.as_str(), owner.namespace.as_deref()),
        ("sample", Some("default"))
    );
}

/// What the API server knows about the Deployment, whose generation is 7, and about three Pods and one that is going.
struct Cluster {
    observed: i64,
    available: i32,
}

impl Default for Cluster {
    fn default() -> Self {
        Self {
            observed: 7,
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
                "replicas": 3,
                "updatedReplicas": 3,
                "availableReplicas": self.available,
            },
        });
        let (client, calls) = mock::api_server(move |call| {
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
        reconcile(object(size, status), Arc::new(Context::new(client)))
            .await
            .unwrap();
        calls.take()
    }
}

/// An object as the API server sends it.
fn object(size: i32, status: Value) -> Arc<Memcached> {
    let object = json!({
        "apiVersion": "cache.example.com/v1alpha1",
        "kind": "Memcached",
        "metadata": { "name": "sample", "namespace": "default", "uid": "1", "generation": 2 },
        "spec": { "size": size },
        "status": status,
    });
    Arc::new(serde_json::from_value(object).unwrap())
}

/// The condition in the status that was written last.
fn ready(calls: &[mock::Call]) -> &Value {
    &calls[2].body["status"]["conditions"][0]
}
