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

//! What every controller is given.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::NamespaceResourceScope;
use kube::runtime::controller::Action;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::{Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tracing::warn;

use super::backoff::jittered;
use super::{FIELD_MANAGER, Options, Runs, brief};
use crate::telemetry::metrics::Metrics;

/// Shared by all controllers; cheap to clone.
#[derive(Clone)]
pub struct Context {
    pub client: Client,
    pub options: Arc<Options>,
    pub metrics: Metrics,
    pub readiness: Readiness,
    reporter: Reporter,
    /// Empty: the whole cluster.
    namespaces: Vec<String>,
    /// One turn for each reconcile, where `--rate` limits them.
    turns: Option<Arc<tokio::sync::Mutex<Interval>>>,
    shutdown: CancellationToken,
}

impl Context {
    pub fn new(client: Client, options: Options) -> Self {
        let named = options.watch_namespace.iter().map(|name| name.trim());
        // Each once.
        let named: BTreeSet<_> = named.filter(|name| !name.is_empty()).collect();
        let pause = Duration::from_secs(1).checked_div(options.rate);
        let turns = pause.map(|pause| {
            let mut turns = interval(pause);
            turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
            Arc::new(turns.into())
        });
        Self {
            reporter: FIELD_MANAGER.into(),
            client,
            metrics: Metrics::default(),
            readiness: Readiness::default(),
            namespaces: named.into_iter().map(str::to_owned).collect(),
            options: options.into(),
            turns,
            shutdown: CancellationToken::new(),
        }
    }

    /// One context for each time that a part runs.
    pub(super) fn split(&self, runs: Runs) -> Vec<Self> {
        if runs != Runs::PerNamespace || self.namespaces.is_empty() {
            return vec![self.clone()];
        }
        let within = |namespace: &String| Self {
            namespaces: vec![namespace.clone()],
            ..self.clone()
        };
        self.namespaces.iter().map(within).collect()
    }

    /// The objects to watch: of one namespace, or of the whole cluster. A part that runs [`Runs::Once`] gets all for several
    /// namespaces, and needs the rights for it: what belongs to its objects may be in each of them.
    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        match self.namespaces.as_slice() {
            [namespace] => Api::namespaced(self.client.clone(), namespace),
            _ => Api::all(self.client.clone()),
        }
    }

    /// Waits while `--rate` forbids one more reconcile; none when the operator shuts down meanwhile.
    pub(super) async fn turn(&self) -> Option<()> {
        let Some(turns) = &self.turns else {
            return Some(());
        };
        let turn = async { turns.lock().await.tick().await };
        self.shutdown.run_until_cancelled(turn).await.map(drop)
    }

    /// For an object that is as it should be: it is looked at again after a while, in case an event was lost.
    pub fn requeue(&self) -> Action {
        let interval = Duration::from_secs(self.options.requeue_interval);
        Action::requeue(jittered(interval))
    }

    /// Publishes an event, which `kubectl describe` shows with the object, if a condition has another status or reason than
    /// it had before. That it cannot be published is logged, and no reason to fail.
    // +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
    pub async fn tell<K>(&self, object: &K, before: &[Condition], now: &Condition)
    where
        K: Resource<DynamicType = ()>,
    {
        let same = |old: &Condition| {
            old.type_ == now.type_ && old.status == now.status && old.reason == now.reason
        };
        if before.iter().any(same) {
            return;
        }
        let event = Event {
            type_: match now.status.as_str() {
                "True" => EventType::Normal,
                _ => EventType::Warning,
            },
            reason: now.reason.clone(),
            note: Some(now.message.clone()),
            action: "Reconcile".to_owned(),
            secondary: None,
        };
        // One that lasts would keep each event in memory for minutes.
        let recorder = Recorder::new(self.client.clone(), self.reporter.clone());
        if let Err(error) = recorder.publish(&event, &object.object_ref(&())).await {
            warn!("event not published: {}", brief(&error));
        }
    }

    /// Resolves when the operator shuts down.
    pub fn shutdown(&self) -> WaitForCancellationFutureOwned {
        self.shutdown.clone().cancelled_owned()
    }

    /// Begins the shutdown.
    pub fn stop(&self) {
        self.shutdown.cancel();
    }
}

/// The parts that are not ready yet, each as often as it runs.
#[derive(Clone, Default)]
pub struct Readiness(Arc<Mutex<Vec<&'static str>>>);

impl Readiness {
    pub fn wait_for(&self, name: &'static str) {
        self.parts().push(name);
    }

    pub fn reached(&self, name: &'static str) {
        let mut parts = self.parts();
        if let Some(at) = parts.iter().position(|part| *part == name) {
            parts.remove(at);
        }
    }

    /// Empty when the operator is ready.
    pub fn missing(&self) -> Vec<&'static str> {
        Vec::from_iter(self.parts().iter().copied().collect::<BTreeSet<_>>())
    }

    fn parts(&self) -> MutexGuard<'_, Vec<&'static str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes an object what it should be by server-side apply, and by force: what others changed in these fields is changed back.
///
/// What others added to a list stays. Where that makes the object invalid, its lists become what they should be: two
/// ports of a Service are one if both number and protocol are the same, and else must not have the same name.
pub async fn apply<K>(
    field_manager: &str,
    api: &Api<K>,
    name: &str,
    object: &(impl Debug + Serialize),
) -> Result<K, kube::Error>
where
    K: Clone + Debug + DeserializeOwned,
{
    let params = PatchParams::apply(field_manager);
    let by_force = params.clone().force();
    match api.patch(name, &by_force, &Patch::Apply(object)).await {
        Err(kube::Error::Api(invalid)) if invalid.is_invalid() => {
            let merged = api.patch(name, &params, &Patch::Merge(object)).await;
            // Why that fails too is no better to know.
            merged.map_err(|_| kube::Error::Api(invalid))
        }
        applied => applied,
    }
}

/// Writes the status of an object by server-side apply, so that it replaces what this operator wrote before and leaves
/// what others wrote. An object that is gone meanwhile needs none.
pub async fn apply_status<K>(
    client: &Client,
    object: &K,
    status: &impl Serialize,
) -> Result<(), kube::Error>
where
    K: Resource<DynamicType = ()>,
{
    apply_status_as(FIELD_MANAGER, client, object, status).await
}

/// The same as another field manager: a controller beside others of its kind, which write fields of their own.
pub async fn apply_status_as<K>(
    field_manager: &str,
    client: &Client,
    object: &K,
    status: &impl Serialize,
) -> Result<(), kube::Error>
where
    K: Resource<DynamicType = ()>,
{
    let resource = ApiResource::erase::<K>(&());
    let api: Api<DynamicObject> = match object.namespace() {
        Some(namespace) => Api::namespaced_with(client.clone(), &namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let patch =
        json!({ "apiVersion": resource.api_version, "kind": resource.kind, "status": status });
    let params = PatchParams::apply(field_manager).force();
    let name = object.name_any();
    match api.patch_status(&name, &params, &Patch::Apply(patch)).await {
        Err(kube::Error::Api(gone)) if gone.is_not_found() => Ok(()),
        written => written.map(drop),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use k8s_openapi::api::core::v1::Service;

    use super::*;
    use crate::mock;

    #[tokio::test]
    async fn replaces_lists_where_what_others_added_makes_an_object_invalid() {
        let service = json!({ "spec": { "ports": [{ "name": "main", "port": 80 }] } });
        for is_repaired in [true, false] {
            let tries = AtomicUsize::new(0);
            let (client, calls) = mock::api_server(move |call| {
                match (tries.fetch_add(1, Ordering::Relaxed), is_repaired) {
                    (0, _) => (422, mock::status(422, "Invalid")),
                    (_, true) => (200, call.body.clone()),
                    (_, false) => (404, mock::status(404, "NotFound")),
                }
            });
            let api = Api::<Service>::namespaced(client, "default");
            match apply(FIELD_MANAGER, &api, "sample", &service).await {
                Ok(_) => assert!(is_repaired),
                Err(error) => assert!(!is_repaired && brief(&error).contains("Invalid")),
            }
            let [first, second] = &calls.take()[..] else {
                panic!("two requests")
            };
            assert_eq!(first.content_type, "application/apply-patch+yaml");
            assert_eq!(second.content_type, "application/merge-patch+json");
            assert_eq!(second.body, service);
        }
    }
}
