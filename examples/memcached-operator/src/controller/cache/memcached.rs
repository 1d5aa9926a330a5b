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

//! Makes the cluster what each `Memcached` asks for, and says in its status how far that is.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::runtime::controller::{self, Action, Controller};
use kube::runtime::watcher;
use kube::{Resource, ResourceExt};
use tracing::instrument;

use crate::api::cache::v1alpha1::memcached::{Memcached, MemcachedStatus};
use crate::manager::{self, Context, backoff, conditions};

/// What `controller::all` lists.
pub const CONTROLLER: manager::Runnable = manager::Runnable {
    name: "memcacheds.cache.example.com",
    run: |ctx| Box::pin(run(ctx)),
};

/// So many objects are reconciled at the same time.
const CONCURRENCY: u16 = 10;

/// Every object is looked at again after this time, in case an event was lost.
const RESYNC: Duration = Duration::from_secs(60 * 60);

// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=get;list;watch
async fn run(ctx: Context) -> Result<(), manager::Error> {
    let api = ctx.api();
    manager::check(&api).await?;
    let controller = Controller::new(api, watcher::Config::default())
        .with_config(controller::Config::default().concurrency(CONCURRENCY))
        .graceful_shutdown_on(ctx.shutdown());
    let store = controller.store();
    let reconciles = controller
        .run(reconcile, error_policy, Arc::new(ctx.clone()))
        .for_each(manager::log_outcome);
    tokio::join!(reconciles, ctx.ready_once_filled(CONTROLLER.name, store));
    Ok(())
}

/// Runs after every change of an object, after a failure, and once every [`RESYNC`].
#[instrument(skip_all, fields(namespace = object.namespace(), name = object.name_any()))]
async fn reconcile(object: Arc<Memcached>, ctx: Arc<Context>) -> Result<Action, Error> {
    let _measured = ctx.metrics.measure(CONTROLLER.name);
    if object.meta().deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let outcome = converge(&object, &ctx).await;
    let ready = match &outcome {
        Ok(ready) => ready.clone(),
        Err(error) => conditions::not_ready(error.reason(), error.to_string()),
    };
    apply_status(&object, ready, &ctx).await?;
    outcome?;
    ctx.backoff.reset(&*object);
    Ok(Action::requeue(backoff::jittered(RESYNC)))
}

/// Makes the cluster what the spec asks for, and returns the condition `Ready`: your logic goes here.
///
/// It must come to the same end however often it runs. Apply what belongs to the object by
/// server-side apply as [`manager::FIELD_MANAGER`], under names that follow from the object's own,
/// with `object.controller_owner_ref(&())` among the owners so that it is deleted with the object;
/// and add `.owns(…)` to the controller in [`run`] so that a change to it is repaired.
async fn converge(object: &Memcached, _ctx: &Context) -> Result<Condition, Error> {
    if object.spec.suspend {
        return Ok(conditions::not_ready("Suspended", "`spec.suspend` is true"));
    }
    Ok(conditions::ready("Reconciled", "the spec is fulfilled"))
}

/// Writes the status, unless it is there already.
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=patch
async fn apply_status(object: &Memcached, ready: Condition, ctx: &Context) -> Result<(), Error> {
    let current = object.status.clone().unwrap_or_default();
    let generation = object.meta().generation;
    let status = MemcachedStatus {
        observed_generation: generation,
        conditions: vec![conditions::next(&current.conditions, ready, generation)],
    };
    if status != current {
        manager::apply_status(&ctx.client, object, &status).await?;
    }
    Ok(())
}

/// Why an object could not be reconciled.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("a request to the API server failed: {0}")]
    Request(#[from] kube::Error),
}

impl Error {
    /// One word for each variant: the reason in the condition, and the label of the metric.
    fn reason(&self) -> &'static str {
        match self {
            Self::Request(_) => "RequestFailed",
        }
    }
}

/// Tries again, later after each failure in a row.
fn error_policy(object: Arc<Memcached>, error: &Error, ctx: Arc<Context>) -> Action {
    ctx.metrics.count_failure(CONTROLLER.name, error.reason());
    Action::requeue(ctx.backoff.next(&*object))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manager::mock;

    /// An object as the API server sends it, with this spec and status.
    fn object(spec: serde_json::Value, status: serde_json::Value) -> Arc<Memcached> {
        let object = json!({
            "apiVersion": "cache.example.com/v1alpha1",
            "kind": "Memcached",
            "metadata": { "name": "sample", "namespace": "default", "uid": "1", "generation": 2 },
            "spec": spec,
            "status": status,
        });
        Arc::new(serde_json::from_value(object).unwrap())
    }

    /// Reconciles once and returns the requests that this made.
    async fn calls(spec: serde_json::Value, status: serde_json::Value) -> Vec<mock::Call> {
        let (client, calls) = mock::api_server(|call| (200, call.body.clone()));
        let ctx = Arc::new(Context::new(client));
        reconcile(object(spec, status), ctx).await.unwrap();
        calls.take()
    }

    #[tokio::test]
    async fn says_ready_and_for_which_generation() {
        let calls = calls(json!({}), json!({})).await;
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].method, "PATCH");
        assert!(calls[0].path.ends_with("/sample/status"));
        let status = &calls[0].body["status"];
        assert_eq!(status["observedGeneration"], 2);
        assert_eq!(status["conditions"][0]["type"], "Ready");
        assert_eq!(status["conditions"][0]["status"], "True");
    }

    #[tokio::test]
    async fn says_why_it_is_not_ready() {
        let calls = calls(json!({ "suspend": true }), json!({})).await;
        let condition = &calls[0].body["status"]["conditions"][0];
        assert_eq!(condition["status"], "False");
        assert_eq!(condition["reason"], "Suspended");
    }

    #[tokio::test]
    async fn writes_nothing_the_second_time() {
        let first = calls(json!({}), json!({})).await;
        let second = calls(json!({}), first[0].body["status"].clone()).await;
        assert_eq!(second, []);
    }

    #[tokio::test]
    async fn counts_failures_and_waits_longer_after_each() {
        let (client, _calls) = mock::api_server(|_| (403, mock::status(403, "Forbidden")));
        let ctx = Arc::new(Context::new(client));
        let object = object(json!({}), json!({}));
        let error = reconcile(object.clone(), ctx.clone()).await.unwrap_err();
        let first = error_policy(object.clone(), &error, ctx.clone());
        let second = error_policy(object, &error, ctx.clone());
        assert_ne!(first, second);
        assert!(ctx.metrics.text().contains("RequestFailed"));
    }
}
