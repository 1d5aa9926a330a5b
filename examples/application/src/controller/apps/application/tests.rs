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

//! `reconcile` against a mock API server: what it requests, and what it returns.

use opctl_runtime::testing::{self, Call, Calls};
use serde_json::{Value, json};

use super::*;

#[tokio::test]
async fn applies_every_part_with_the_object_as_its_owner() {
    let (_, calls) = reconciled(whole(), Cluster::default()).await;
    let (deployment, service) = (
        calls.applied::<Deployment>("shop"),
        calls.applied::<Service>("shop"),
    );
    let ingress = calls.applied::<Ingress>("shop");
    for child in [&deployment, &service, &ingress] {
        let owner = &child["metadata"]["ownerReferences"][0];
        assert_eq!(
            (&owner["uid"], &owner["controller"]),
            (&json!("1"), &json!(true))
        );
    }
    assert_eq!(
        deployment["spec"]["template"]["metadata"]["labels"],
        service["spec"]["selector"]
    );
    let path = &ingress["spec"]["rules"][0]["http"]["paths"][0];
    assert_eq!(
        path["backend"]["service"]["name"],
        service["metadata"]["name"]
    );
}

#[tokio::test]
async fn is_ready_when_every_replica_is_available() {
    let (outcome, _) = reconciled(whole(), Cluster::default()).await;
    let outcome = outcome.unwrap();
    assert_eq!(outcome.conditions()[0].reason, "Available");
    assert_eq!(outcome.status_fields()["availableReplicas"], 2);
}

#[tokio::test]
async fn is_progressing_until_then() {
    let (outcome, _) = reconciled(
        whole(),
        Cluster {
            available: 1,
            ..Cluster::default()
        },
    )
    .await;
    assert_eq!(outcome.unwrap().conditions()[0].reason, "Progressing");
}

#[tokio::test]
async fn has_the_address_of_the_outermost_part() {
    let mut spec = whole();
    for (address, outermost) in [
        (json!("http://shop.example.com/"), "ingress"),
        (json!("http://shop.default.svc:80"), "service"),
        (json!(null), ""),
    ] {
        let (outcome, _) = reconciled(spec.clone(), Cluster::default()).await;
        assert_eq!(outcome.unwrap().status_fields()["address"], address);
        spec[outermost] = Value::Null;
    }
}

#[tokio::test]
async fn applies_only_the_parts_of_the_spec() {
    let (_, calls) = reconciled(bare(), Cluster::default()).await;
    assert!(calls.of::<Service>().is_empty() && calls.of::<Ingress>().is_empty());
}

#[tokio::test]
async fn does_not_touch_objects_of_someone_else() {
    let (outcome, calls) = reconciled(
        whole(),
        Cluster {
            existing: Existing::OfSomeoneElse,
            ..Cluster::default()
        },
    )
    .await;
    assert_eq!(outcome.unwrap_err().reason(), "NameTaken");
    assert!(calls.take().iter().all(|call| call.method == "GET"));
}

#[tokio::test]
async fn adopts_what_an_object_of_its_name_has_left() {
    let (_, calls) = reconciled(
        whole(),
        Cluster {
            existing: Existing::Orphaned,
            ..Cluster::default()
        },
    )
    .await;
    calls.applied::<Deployment>("shop");
    calls.applied::<Ingress>("shop");
}

#[tokio::test]
async fn fails_with_a_reason() {
    let (ctx, _calls) = testing::context_with(|_| (403, testing::status(403, "Forbidden")));
    let error = reconcile(object(bare()), ctx).await.unwrap_err();
    assert_eq!(error.reason(), "RequestFailed");
}

/// What the API server has: some available replicas of two, and children that belong to someone.
#[derive(Clone, Copy)]
struct Cluster {
    available: i32,
    existing: Existing,
}

#[derive(Clone, Copy)]
enum Existing {
    Owned,
    Orphaned,
    OfSomeoneElse,
}

impl Default for Cluster {
    fn default() -> Self {
        Self {
            available: 2,
            existing: Existing::Owned,
        }
    }
}

impl Cluster {
    fn answer(self, call: &Call) -> Value {
        if call.method == "GET" {
            let mut metadata = json!({ "name": "shop", "uid": "2", "resourceVersion": "3" });
            match self.existing {
                Existing::Owned => {
                    metadata["ownerReferences"] = json!([{ "apiVersion": "apps.example.com/v1alpha1", "kind": "Application", "name": "shop", "uid": "1", "controller": true }]);
                }
                Existing::Orphaned => metadata["labels"] = json!(children::labels(&object(bare()))),
                Existing::OfSomeoneElse => {}
            }
            return json!({ "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": metadata });
        }
        let mut answer = call.body.clone();
        if call.is::<Deployment>() {
            answer["metadata"]["generation"] = 7.into();
            answer["status"] = json!({
                "observedGeneration": 7,
                "replicas": 2,
                "updatedReplicas": 2,
                "readyReplicas": self.available,
                "availableReplicas": self.available,
                "conditions": [{ "type": "Available", "status": "True" }],
            });
        }
        answer
    }
}

/// Reconciles once.
async fn reconciled(spec: Value, cluster: Cluster) -> (Result<Outcome>, Calls) {
    let (ctx, calls) = testing::context_with(move |call| (200, cluster.answer(call)));
    (reconcile(object(spec), ctx).await, calls)
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

fn object(spec: Value) -> Arc<Application> {
    testing::stored(Application::new(
        "shop",
        serde_json::from_value(spec).unwrap(),
    ))
}
