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

use std::future;
use std::sync::Arc;

use futures::TryStreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::runtime::controller::Action;
use kube::runtime::finalizer::Event;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Resource, ResourceExt};

use crate::api::cache::v1alpha1::memcached::{Memcached, MemcachedStatus};
use crate::manager::{self, Context, FIELD_MANAGER, Failure, conditions};

/// What `controller::all` lists.
pub const CONTROLLER: manager::Runnable = manager::Runnable {
    name: "memcacheds.cache.example.com",
    runs: manager::Runs::PerNamespace,
    run: |ctx| Box::pin(run(ctx)),
};

/// While it is on an object, Kubernetes does not let it go: [`cleanup`] comes first.
const FINALIZER: &str = "memcacheds.cache.example.com/cleanup";

const PROGRESSING: &str = "Progressing";

// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch
async fn run(ctx: Context) -> Result<(), manager::Error> {
    let (api, deployments) = (ctx.api(), ctx.api::<Deployment>());
    manager::check(&api).await?;
    manager::check(&deployments).await?;
    manager::check(&ctx.api::<Pod>()).await?;
    // Pods are not watched: whatever happens to one, the numbers in the Deployment's status follow.
    let ours = watcher::Config::default().labels(&deployment::all());
    let changes = watcher(deployments, ours)
        .try_filter(|event| future::ready(is_news(event)))
        .touched_objects();
    let controller = manager::controller(api, watcher::Config::default()).owns_stream(changes);
    manager::drive(CONTROLLER.name, controller, reconcile, ctx).await
}

/// Runs after every change of an object or its Deployment, after a failure, and once every `--requeue-interval`.
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=patch
async fn reconcile(object: Arc<Memcached>, ctx: Arc<Context>) -> Result<Action, Error> {
    let api = Api::<Memcached>::namespaced(ctx.client.clone(), &namespace(&object));
    manager::with_finalizer(&api, FINALIZER, object, |event| async {
        match event {
            Event::Apply(object) => {
                let outcome = converge(&object, &ctx).await;
                report(&object, outcome, &ctx).await
            }
            Event::Cleanup(object) => {
                cleanup(&object, &ctx).await;
                Ok(Action::await_change())
            }
        }
    })
    .await
}

/// Applies the Deployment, and returns the condition `Ready` and what else there is to say in the status, once it is known.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create;patch
async fn converge(
    object: &Memcached,
    ctx: &Context,
) -> Result<Option<(Condition, MemcachedStatus)>, Error> {
    // By force: what others changed in these fields is changed back.
    let params = PatchParams::apply(FIELD_MANAGER).force();
    let desired = Patch::Apply(deployment::deployment(object));
    let deployment = Api::<Deployment>::namespaced(ctx.client.clone(), &namespace(object))
        .patch(&object.name_any(), &params, &desired)
        .await?;
    if !is_observed(&deployment) {
        return Ok(None);
    }
    let replicas = deployment
        .status
        .as_ref()
        .and_then(|status| status.replicas)
        .unwrap_or_default();
    let observed = MemcachedStatus {
        replicas,
        selector: deployment::selector(object),
        nodes: match replicas {
            0 => Vec::new(),
            _ => nodes(object, ctx).await?,
        },
        ..Default::default()
    };
    Ok(Some((ready(&deployment, object.spec.size), observed)))
}

/// The names of the Pods that stay, sorted.
// +kubebuilder:rbac:groups=core,resources=pods,verbs=list
async fn nodes(object: &Memcached, ctx: &Context) -> Result<Vec<String>, Error> {
    let ours = ListParams::default().labels(&deployment::selector(object));
    let pods = Api::<Pod>::namespaced(ctx.client.clone(), &namespace(object))
        .list_metadata(&ours)
        .await?;
    let staying = pods
        .iter()
        .filter(|pod| pod.meta().deletion_timestamp.is_none());
    let mut nodes: Vec<String> = staying.map(ResourceExt::name_any).collect();
    nodes.sort();
    Ok(nodes)
}

/// Whether there is something to see in it: not in what was written a moment ago, by this operator most of all.
fn is_news(event: &watcher::Event<Deployment>) -> bool {
    match event {
        watcher::Event::Apply(deployment) => is_observed(deployment),
        _ => true,
    }
}

/// Whether its status is about its present spec; if not, it will be in a moment.
fn is_observed(deployment: &Deployment) -> bool {
    let status = deployment.status.as_ref();
    status.and_then(|it| it.observed_generation) == deployment.metadata.generation
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
    if [total, updated, available] == [size; 3] {
        conditions::ready("Available", "every replica is available")
    } else {
        let progress =
            format!("{updated} of {size} replicas are up to date, {available} available");
        conditions::not_ready(PROGRESSING, progress)
    }
}

/// Puts the end of an object on record. This is the place for what would outlive it, such as things outside of the cluster;
/// the Deployment is deleted with it by Kubernetes.
async fn cleanup(object: &Memcached, ctx: &Context) {
    let note = format!("the Deployment {} goes with it", object.name_any());
    ctx.tell(object, &[], &conditions::ready("CleanedUp", note))
        .await;
}

/// Says in the status how it went.
async fn report(
    object: &Memcached,
    outcome: Result<Option<(Condition, MemcachedStatus)>, Error>,
    ctx: &Context,
) -> Result<Action, Error> {
    let (ready, observed) = match &outcome {
        Ok(Some(observed)) => observed.clone(),
        // It will be observed, which is an event.
        Ok(None) => return Ok(ctx.requeue()),
        Err(error) => {
            let known = object.status.clone().unwrap_or_default();
            let ready = conditions::not_ready(error.reason(), error.to_string());
            (ready, known)
        }
    };
    let written = apply_status(object, ready, observed, ctx).await;
    // What went wrong first is what matters.
    outcome?;
    written?;
    Ok(ctx.requeue())
}

/// Writes the status, unless it is there already.
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=patch
async fn apply_status(
    object: &Memcached,
    ready: Condition,
    observed: MemcachedStatus,
    ctx: &Context,
) -> Result<(), Error> {
    let mut before = object.status.clone().unwrap_or_default();
    // Conditions of other types are for others to write.
    before.conditions.retain(|old| old.type_ == ready.type_);
    let generation = object.meta().generation;
    let ready = conditions::next(&before.conditions, ready, generation);
    let status = MemcachedStatus {
        observed_generation: generation,
        conditions: vec![ready.clone()],
        ..observed
    };
    if status != before {
        manager::apply_status(&ctx.client, object, &status).await?;
        // That it is on its way is no news.
        if ready.reason != PROGRESSING {
            ctx.tell(object, &before.conditions, &ready).await;
        }
    }
    Ok(())
}

fn namespace(object: &Memcached) -> String {
    object.namespace().expect("a Memcached is namespaced")
}

/// Why an object could not be reconciled.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("a request to the API server failed: {}", manager::brief(.0))]
    Request(#[from] kube::Error),
}

impl Failure for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Request(_) => "RequestFailed",
        }
    }
}

#[cfg(test)]
mod tests;
