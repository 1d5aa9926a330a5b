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

//! Runs a Deployment for each `Memcached`, and says in its status how far that is.

mod deployment;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::runtime::controller::{self, Action, Controller};
use kube::runtime::watcher;
use kube::{Resource, ResourceExt};
use tracing::instrument;

use crate::api::cache::v1alpha1::memcached::{Memcached, MemcachedStatus};
use crate::manager::{self, Context, FIELD_MANAGER, backoff, conditions};

/// What `controller::all` lists.
pub const CONTROLLER: manager::Runnable = manager::Runnable {
    name: "memcacheds.cache.example.com",
    run: |ctx| Box::pin(run(ctx)),
};

/// So many objects are reconciled at the same time.
const CONCURRENCY: u16 = 10;

/// Every object is looked at again after this time, in case an event was lost.
const RESYNC: Duration = Duration::from_secs(60 * 60);

// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch
// +kubebuilder:rbac:groups=core,resources=pods,verbs=list;watch
async fn run(ctx: Context) -> Result<(), manager::Error> {
    let (api, deployments, pods) = (ctx.api(), ctx.api::<Deployment>(), ctx.api::<Pod>());
    manager::check(&api).await?;
    manager::check(&deployments).await?;
    manager::check(&pods).await?;
    let ours = watcher::Config::default().labels(&deployment::all());
    let controller = Controller::new(api, watcher::Config::default())
        .with_config(controller::Config::default().concurrency(CONCURRENCY))
        .owns(deployments, ours.clone())
        .watches(pods, ours, deployment::owner)
        .graceful_shutdown_on(ctx.shutdown());
    let store = controller.store();
    let reconciles = controller
        .run(reconcile, error_policy, Arc::new(ctx.clone()))
        .for_each(manager::log_outcome);
    tokio::join!(reconciles, ctx.ready_once_filled(CONTROLLER.name, store));
    Ok(())
}

/// Runs after every change of an object, its Deployment or its Pods, after a failure, and once every [`RESYNC`].
#[instrument(skip_all, fields(namespace = object.namespace(), name = object.name_any()))]
async fn reconcile(object: Arc<Memcached>, ctx: Arc<Context>) -> Result<Action, Error> {
    let _measured = ctx.metrics.measure(CONTROLLER.name);
    if object.meta().deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let outcome = converge(&object, &ctx).await;
    let (ready, nodes) = match &outcome {
        Ok(observed) => observed.clone(),
        Err(error) => {
            let known = object.status.clone().unwrap_or_default().nodes;
            let ready = conditions::not_ready(error.reason(), error.to_string());
            (ready, known)
        }
    };
    let written = apply_status(&object, ready, nodes, &ctx).await;
    // What went wrong first is what matters.
    outcome?;
    written?;
    ctx.backoff.reset(&*object);
    Ok(Action::requeue(backoff::jittered(RESYNC)))
}

/// Applies the Deployment, and returns the condition `Ready` and the names of the Pods.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create;patch
async fn converge(object: &Memcached, ctx: &Context) -> Result<(Condition, Vec<String>), Error> {
    let namespace = object.namespace().expect("a Memcached is namespaced");

    // By force: what others changed in these fields is changed back.
    let params = PatchParams::apply(FIELD_MANAGER).force();
    let desired = Patch::Apply(deployment::deployment(object));
    let deployment = Api::<Deployment>::namespaced(ctx.client.clone(), &namespace)
        .patch(&object.name_any(), &params, &desired)
        .await?;

    let pods = Api::<Pod>::namespaced(ctx.client.clone(), &namespace)
        .list_metadata(&ListParams::default().labels(&deployment::of(object)))
        .await?;
    let mut nodes: Vec<String> = pods
        .iter()
        .filter(|pod| pod.meta().deletion_timestamp.is_none())
        .map(ResourceExt::name_any)
        .collect();
    nodes.sort();

    Ok((ready(&deployment, object.spec.size), nodes))
}

/// As `kubectl rollout status` judges it.
fn ready(deployment: &Deployment, size: i32) -> Condition {
    let status = deployment.status.clone().unwrap_or_default();
    let [total, updated, available] = [
        status.replicas,
        status.updated_replicas,
        status.available_replicas,
    ]
    .map(Option::unwrap_or_default);
    // Until then the numbers are about an older spec.
    let seen = status.observed_generation == deployment.metadata.generation;
    if seen && [total, updated, available] == [size; 3] {
        conditions::ready(
            "Available",
            format!("{size} of {size} replicas are available"),
        )
    } else {
        let progress =
            format!("{updated} of {size} replicas are up to date, {available} available");
        conditions::not_ready("Progressing", progress)
    }
}

/// Writes the status, unless it is there already.
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=patch
async fn apply_status(
    object: &Memcached,
    ready: Condition,
    nodes: Vec<String>,
    ctx: &Context,
) -> Result<(), Error> {
    let current = object.status.clone().unwrap_or_default();
    let generation = object.meta().generation;
    let status = MemcachedStatus {
        observed_generation: generation,
        nodes,
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
    #[error("a request to the API server failed: {}", manager::brief(.0))]
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
mod tests;
