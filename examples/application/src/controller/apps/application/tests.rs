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
async fn applies_every_part_with_the_object_as_its_owner() {
    let calls = Cluster::default().reconcile(whole(), json!({})).await;
    let applied = calls.iter().filter(|call| call.method == "PATCH");
    let [deployment, service, ingress, _status] = &applied.collect::<Vec<_>>()[..] else {
        panic!("three children and the status: {calls:?}")
    };
    for (child, path) in [
        (deployment, DEPLOYMENT),
        (service, SERVICE),
        (ingress, INGRESS),
    ] {
        assert_eq!(child.path, path);
        let owner = &child.body["metadata"]["ownerReferences"][0];
        assert_eq!(
            (&owner["uid"], &owner["controller"]),
            (&json!("1"), &json!(true))
        );
    }
    let template = &deployment.body["spec"]["template"];
    assert_eq!(
        template["metadata"]["labels"],
        service.body["spec"]["selector"]
    );
    let path = &ingress.body["spec"]["rules"][0]["http"]["paths"][0];
    assert_eq!(
        path["backend"]["service"]["name"],
        service.body["metadata"]["name"]
    );
}

#[tokio::test]
async fn is_ready_when_every_replica_is_available() {
    let calls = Cluster::default().reconcile(whole(), json!({})).await;
    let status = status(&calls);
    assert_eq!(status["observedGeneration"], 2);
    assert_eq!(status["availableReplicas"], 2);
    assert_eq!(status["address"], "http://shop.example.com/");
    assert_eq!(status["conditions"][0]["status"], "True");
    assert_eq!(status["conditions"][0]["reason"], "Available");
}

#[tokio::test]
async fn is_progressing_until_then() {
    let cluster = Cluster {
        available: 1,
        ..Cluster::default()
    };
    let calls = cluster.reconcile(whole(), json!({})).await;
    let condition = &status(&calls)["conditions"][0];
    assert_eq!(condition["status"], "False");
    assert_eq!(condition["reason"], "Progressing");
    assert_eq!(
        condition["message"],
        "2 of 2 replicas are up to date, 1 available"
    );
}

#[tokio::test]
async fn has_the_address_of_what_there_is() {
    let mut spec = whole();
    for address in [
        json!("http://shop.example.com/"),
        json!("http://shop.default.svc:80"),
        json!(null),
    ] {
        let calls = Cluster::default().reconcile(spec.clone(), json!({})).await;
        assert_eq!(status(&calls)["address"], address);
        let outermost = if address == "http://shop.example.com/" {
            "ingress"
        } else {
            "service"
        };
        spec[outermost] = Value::Null;
    }
}

#[tokio::test]
async fn deletes_the_parts_that_the_spec_has_no_longer() {
    let calls = Cluster::default().reconcile(bare(), json!({})).await;
    let deleted: Vec<_> = calls
        .iter()
        .filter(|call| call.method == "DELETE")
        .collect();
    assert_eq!(paths(&deleted), [SERVICE, INGRESS]);
    assert_eq!(deleted[0].body["preconditions"]["uid"], "2");
}

#[tokio::test]
async fn deletes_nothing_where_there_is_nothing() {
    let cluster = Cluster {
        children: Children::None,
        ..Cluster::default()
    };
    let calls = cluster.reconcile(bare(), json!({})).await;
    assert!(
        calls.iter().all(|call| call.method != "DELETE"),
        "{calls:?}"
    );
}

#[tokio::test]
async fn does_not_touch_what_is_of_somebody_else() {
    let cluster = Cluster {
        children: Children::OfSomebodyElse,
        ..Cluster::default()
    };
    let (outcome, calls) = cluster.try_reconcile(whole(), json!({})).await;
    assert_eq!(outcome.unwrap_err().reason(), "NameTaken");
    let written: Vec<_> = calls.iter().filter(|call| call.method != "GET").collect();
    assert_eq!(paths(&written), [STATUS, EVENTS]);
    assert_eq!(status(&calls)["conditions"][0]["reason"], "NameTaken");
}

#[tokio::test]
async fn adopts_what_an_object_of_its_name_has_left() {
    let cluster = Cluster {
        children: Children::Orphaned,
        ..Cluster::default()
    };
    let calls = cluster.reconcile(bare(), json!({})).await;
    let written: Vec<_> = calls.iter().filter(|call| call.method != "GET").collect();
    assert_eq!(
        paths(&written),
        [DEPLOYMENT, SERVICE, INGRESS, STATUS, EVENTS]
    );
}

#[tokio::test]
async fn replaces_what_cannot_be_applied() {
    let cluster = Cluster {
        refuses: Some(("PATCH", SERVICE)),
        ..Cluster::default()
    };
    let calls = cluster.reconcile(whole(), json!({})).await;
    let replaced: Vec<_> = calls.iter().filter(|call| call.method == "PUT").collect();
    assert_eq!(paths(&replaced), [SERVICE]);
    assert_eq!(replaced[0].body["metadata"]["resourceVersion"], "3");
}

#[tokio::test]
async fn says_why_it_failed_and_keeps_what_it_saw() {
    let cluster = Cluster {
        refuses: Some(("GET", SERVICE)),
        ..Cluster::default()
    };
    let before = json!({ "availableReplicas": 2, "address": "http://before" });
    let (outcome, calls) = cluster.try_reconcile(whole(), before).await;
    assert_eq!(outcome.unwrap_err().reason(), "RequestFailed");
    let status = status(&calls);
    assert_eq!(status["conditions"][0]["reason"], "RequestFailed");
    assert_eq!(status["availableReplicas"], 2);
    assert_eq!(status["address"], "http://before");
}

#[tokio::test]
async fn writes_no_status_the_second_time() {
    let cluster = Cluster::default();
    let first = cluster.reconcile(whole(), json!({})).await;
    let second = cluster.reconcile(whole(), status(&first).clone()).await;
    assert_eq!(
        second,
        first[..first.len() - 2],
        "all but the status and its event"
    );
}

#[tokio::test]
async fn leaves_alone_what_is_being_deleted() {
    let (ctx, calls) = mock::context(|_| (500, Value::Null));
    let mut object = Arc::unwrap_or_clone(object(whole(), json!({})));
    object.metadata.deletion_timestamp =
        Some(serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap());
    assert_eq!(
        reconcile(Arc::new(object), ctx).await.unwrap(),
        Action::await_change()
    );
    assert_eq!(calls.take(), []);
}

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/shop";
const SERVICE: &str = "/api/v1/namespaces/default/services/shop";
const INGRESS: &str = "/apis/networking.k8s.io/v1/namespaces/default/ingresses/shop";
const STATUS: &str = "/apis/apps.example.com/v1alpha1/namespaces/default/applications/shop/status";
const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

/// What the API server has: two replicas, some of them available, and what belongs to whom.
#[derive(Clone, Copy)]
struct Cluster {
    available: i32,
    children: Children,
    /// Which request it calls invalid, by method and path.
    refuses: Option<(&'static str, &'static str)>,
}

#[derive(Clone, Copy)]
enum Children {
    None,
    Owned,
    Orphaned,
    OfSomebodyElse,
}

impl Default for Cluster {
    fn default() -> Self {
        Self {
            available: 2,
            children: Children::Owned,
            refuses: None,
        }
    }
}

impl Cluster {
    /// Reconciles once and returns the requests that this made.
    async fn reconcile(self, spec: Value, status: Value) -> Vec<mock::Call> {
        let (outcome, calls) = self.try_reconcile(spec, status).await;
        outcome.unwrap();
        calls
    }

    async fn try_reconcile(
        self,
        spec: Value,
        status: Value,
    ) -> (Result<Action, Error>, Vec<mock::Call>) {
        let (ctx, calls) = mock::context(move |call| self.answer(call));
        let outcome = reconcile(object(spec, status), ctx).await;
        (outcome, calls.take())
    }

    fn answer(self, call: &mock::Call) -> (u16, Value) {
        if self.refuses == Some((&*call.method, &*call.path)) {
            return (422, mock::status(422, "Invalid"));
        }
        match call.method.as_str() {
            "GET" => self.child(),
            "DELETE" => (
                200,
                json!({ "kind": "Status", "apiVersion": "v1", "status": "Success" }),
            ),
            _ if call.path == DEPLOYMENT => (200, self.deployment()),
            _ => (200, call.body.clone()),
        }
    }

    fn child(self) -> (u16, Value) {
        let labels = json!({
            "app.kubernetes.io/instance": "shop",
            "app.kubernetes.io/managed-by": FIELD_MANAGER,
        });
        let owner = json!([{ "apiVersion": "apps.example.com/v1alpha1", "kind": "Application", "name": "shop", "uid": "1" }]);
        let (labels, owners) = match self.children {
            Children::None => return (404, mock::status(404, "NotFound")),
            Children::Owned => (json!({}), owner),
            Children::Orphaned => (labels, json!([])),
            Children::OfSomebodyElse => (json!({}), json!([])),
        };
        (
            200,
            json!({
                "apiVersion": "meta.k8s.io/v1",
                "kind": "PartialObjectMetadata",
                "metadata": { "name": "shop", "uid": "2", "resourceVersion": "3", "labels": labels, "ownerReferences": owners },
            }),
        )
    }

    fn deployment(self) -> Value {
        json!({
            "metadata": { "generation": 7 },
            "status": {
                "observedGeneration": 7,
                "replicas": 2,
                "updatedReplicas": 2,
                "availableReplicas": self.available,
            },
        })
    }
}

fn whole() -> Value {
    let mut spec = bare();
    spec["service"] = json!({});
    spec["ingress"] = json!({ "host": "shop.example.com" });
    spec
}

fn bare() -> Value {
    json!({ "deployment": { "image": "shop:1", "replicas": 2, "port": 8080 } })
}

/// An object as the API server sends it.
fn object(spec: Value, status: Value) -> Arc<Application> {
    let object = json!({
        "apiVersion": "apps.example.com/v1alpha1",
        "kind": "Application",
        "metadata": { "name": "shop", "namespace": "default", "uid": "1", "generation": 2 },
        "spec": spec,
        "status": status,
    });
    Arc::new(serde_json::from_value(object).unwrap())
}

/// What was written last as the status.
fn status(calls: &[mock::Call]) -> &Value {
    let written = calls.iter().rfind(|call| call.path == STATUS);
    &written.expect("the status was written").body["status"]
}

fn paths<'a>(calls: &[&'a mock::Call]) -> Vec<&'a str> {
    calls.iter().map(|call| call.path.as_str()).collect()
}
