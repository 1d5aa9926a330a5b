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

//! Runs a Deployment for each `Memcached`, and reports its progress in the status.

mod deployment;

use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams};
use kube::runtime::events::EventType;
use kube::{Resource, ResourceExt};
use opctl_runtime::{Children, Context, Controller, Outcome, Result, Runnable};

use crate::api::cache::v1alpha1::memcached::{Memcached, MemcachedStatus};

/// Kubernetes does not remove an object that has it before `cleanup` has succeeded.
const FINALIZER: &str = "memcacheds.cache.example.com/cleanup";

/// Builds the controller; `controller::all` starts it.
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=list;patch;watch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch
pub fn controller() -> Runnable {
    // Pods are not watched: whatever happens to one, the numbers in the Deployment's status follow.
    Controller::<Memcached>::new(reconcile)
        .owns::<Deployment>()
        .finalizer(FINALIZER, cleanup)
        .into()
}

/// Runs after every change of an object or its Deployment, after a failure, and once every `--requeue-interval`.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create;patch
async fn reconcile(object: Arc<Memcached>, ctx: Arc<Context>) -> Result<Outcome> {
    let mut children = Children::of(&*object, &ctx);
    let deployment = children.apply(deployment::deployment(&object)).await?;
    let replicas = deployment
        .status
        .and_then(|status| status.replicas)
        .unwrap_or_default();
    let is_new = children.is_pending() || replicas == 0;
    let nodes = if is_new {
        Vec::new()
    } else {
        nodes(&object, &ctx).await?
    };
    let selector = deployment::selector(&object);
    Ok(children.outcome().status(MemcachedStatus {
        replicas,
        selector,
        nodes,
        ..Default::default()
    }))
}

/// The names of the Pods that are not being deleted, sorted.
// +kubebuilder:rbac:groups=core,resources=pods,verbs=list
async fn nodes(object: &Memcached, ctx: &Context) -> Result<Vec<String>> {
    let namespace = object.namespace().expect("a Memcached is namespaced");
    let pods = Api::<Pod>::namespaced(ctx.client.clone(), &namespace);
    let pods = pods
        .list_metadata(&ListParams::default().labels(&deployment::selector(object)))
        .await?;
    let staying = pods
        .iter()
        .filter(|pod| pod.meta().deletion_timestamp.is_none());
    let mut nodes: Vec<String> = staying.map(ResourceExt::name_any).collect();
    nodes.sort();
    Ok(nodes)
}

/// Records the deletion of an object. This is the place to delete what would outlive it, such as things outside of the
/// cluster; Kubernetes deletes the Deployment.
async fn cleanup(object: Arc<Memcached>, ctx: Arc<Context>) -> Result<()> {
    let note = format!("the Deployment {} is deleted with it", object.name_any());
    ctx.event(&*object, EventType::Normal, "CleanedUp", note)
        .await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use opctl_runtime::testing::{self, Calls};
    use serde_json::json;

    use super::*;
    use crate::api::cache::v1alpha1::memcached::MemcachedSpec;

    #[tokio::test]
    async fn applies_a_deployment_of_the_size_with_pods_that_the_selector_finds() {
        let (outcome, calls) = reconciled(json!({})).await;
        assert!(
            outcome.is_unchanged(),
            "nothing is known about the Deployment yet"
        );
        let deployment = calls.applied::<Deployment>("sample");
        assert_eq!(deployment["spec"]["replicas"], 3);
        assert_eq!(
            deployment["metadata"]["ownerReferences"][0]["controller"],
            true
        );
        let labels = &deployment["spec"]["template"]["metadata"]["labels"];
        assert_eq!(*labels, deployment["spec"]["selector"]["matchLabels"]);
        let is_selected = |(key, value): (&String, &serde_json::Value)| {
            deployment::selector(&object()).contains(&format!("{key}={}", value.as_str().unwrap()))
        };
        assert!(labels.as_object().unwrap().iter().all(is_selected));
    }

    #[tokio::test]
    async fn is_ready_with_the_names_of_the_pods() {
        let (outcome, _) = reconciled(status(3)).await;
        assert_eq!(outcome.conditions()[0].status, "True");
        assert_eq!(outcome.status_fields()["replicas"], 3);
        assert_eq!(
            outcome.status_fields()["nodes"],
            json!(["sample-a", "sample-b"])
        );
        assert_eq!(
            outcome.status_fields()["selector"],
            deployment::selector(&object())
        );
    }

    #[tokio::test]
    async fn is_progressing_until_every_replica_is_available() {
        let (outcome, _) = reconciled(status(2)).await;
        assert_eq!(outcome.conditions()[0].reason, "Progressing");
    }

    #[tokio::test]
    async fn lists_no_pods_where_the_deployment_has_none() {
        let (outcome, calls) = reconciled(json!({ "observedGeneration": 7 })).await;
        assert_eq!(outcome.status_fields()["nodes"], serde_json::Value::Null);
        assert!(calls.of::<Pod>().is_empty());
    }

    #[tokio::test]
    async fn records_the_deletion() {
        let (ctx, calls) = testing::context();
        cleanup(object(), ctx).await.unwrap();
        assert_eq!(calls.take()[0].body["reason"], "CleanedUp");
    }

    /// Reconciles once, with this status of the Deployment.
    async fn reconciled(status: serde_json::Value) -> (Outcome, Calls) {
        let (ctx, calls) = testing::context_with(move |call| {
            let mut answer = call.body.clone();
            if call.is::<Deployment>() {
                answer["metadata"]["generation"] = 7.into();
                answer["status"] = status.clone();
            } else if call.is::<Pod>() {
                answer = json!({ "metadata": {}, "items": [
                    { "metadata": { "name": "sample-b" } },
                    { "metadata": { "name": "sample-a" } },
                    { "metadata": { "name": "sample-old", "deletionTimestamp": "2025-01-01T00:00:00Z" } },
                ] });
            }
            (200, answer)
        });
        (reconcile(object(), ctx).await.unwrap(), calls)
    }

    fn status(available: i32) -> serde_json::Value {
        json!({
            "observedGeneration": 7,
            "replicas": 3,
            "updatedReplicas": 3,
            "readyReplicas": available,
            "availableReplicas": available,
            "conditions": [{ "type": "Available", "status": "True" }],
        })
    }

    fn object() -> Arc<Memcached> {
        testing::stored(Memcached::new("sample", MemcachedSpec { size: 3 }))
    }
}
