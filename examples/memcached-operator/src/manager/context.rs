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

//! What every controller is given, and the steps that all of them share.

use std::collections::BTreeSet;
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::NamespaceResourceScope;
use kube::runtime::controller::{self, Action};
use kube::runtime::reflector::{self, ObjectRef, Store};
use kube::{Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tracing::{debug, warn};

use super::backoff::Backoff;
use super::metrics::Metrics;
use super::{Error, FIELD_MANAGER};

/// Shared by all controllers; cheap to clone.
#[derive(Clone)]
pub struct Context {
    pub client: Client,
    pub backoff: Backoff,
    pub metrics: Metrics,
    pub readiness: Readiness,
    namespace: Option<String>,
    shutdown: CancellationToken,
}

impl Context {
    /// A context that watches the whole cluster.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            backoff: Backoff::default(),
            metrics: Metrics::default(),
            readiness: Readiness::default(),
            namespace: None,
            shutdown: CancellationToken::new(),
        }
    }

    /// Watches one namespace only; `None` and the empty name are the whole cluster.
    pub fn watching(self, namespace: Option<String>) -> Self {
        let namespace = namespace.filter(|name| !name.is_empty());
        Self { namespace, ..self }
    }

    /// The objects that the operator watches: of one namespace, or of all.
    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        match &self.namespace {
            Some(namespace) => Api::namespaced(self.client.clone(), namespace),
            None => Api::all(self.client.clone()),
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

    /// Counts the runnable `name` as ready once `store` holds all the objects there are.
    ///
    /// Await it in the task that drives the controller: a store wakes only the task that asked last.
    pub async fn ready_once_filled<K>(&self, name: &'static str, store: Store<K>)
    where
        K: reflector::Lookup + Clone + 'static,
        K::DynamicType: Eq + Hash + Clone,
    {
        if store.wait_until_ready().await.is_ok() {
            self.readiness.reached(name);
        }
    }
}

/// The runnables that are not ready yet.
#[derive(Clone, Default)]
pub struct Readiness(Arc<Mutex<BTreeSet<&'static str>>>);

impl Readiness {
    pub fn wait_for(&self, name: &'static str) {
        self.set().insert(name);
    }

    pub fn reached(&self, name: &'static str) {
        self.set().remove(name);
    }

    /// Empty when the operator is ready.
    pub fn missing(&self) -> Vec<&'static str> {
        self.set().iter().copied().collect()
    }

    fn set(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lists one object, so that a missing CRD or right stops the start with its reason.
///
/// Only metadata is read: an object that does not fit the Rust type must not stop the operator.
pub async fn check<K>(api: &Api<K>) -> Result<(), Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    match api.list_metadata(&ListParams::default().limit(1)).await {
        Ok(_) => Ok(()),
        // The code: this 404 is about the path, so it comes without a reason.
        Err(kube::Error::Api(status)) if status.code == 404 => {
            let resource = ApiResource::erase::<K>(&());
            Err(Error::NotInstalled(format!(
                "{} {}",
                resource.api_version, resource.kind
            )))
        }
        Err(error) => Err(error.into()),
    }
}

/// Writes the status of an object by server-side apply, so that it replaces what this operator wrote before and leaves
/// what others wrote.
pub async fn apply_status<K>(
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
    let params = PatchParams::apply(FIELD_MANAGER).force();
    api.patch_status(&object.name_any(), &params, &Patch::Apply(patch))
        .await?;
    Ok(())
}

/// Logs what a controller's stream yields, errors of its watches included.
pub async fn log_outcome<K, E, W>(outcome: Result<(ObjectRef<K>, Action), controller::Error<E, W>>)
where
    K: reflector::Lookup,
    E: Display + 'static,
    W: Display + 'static,
{
    match outcome {
        Ok((object, _)) => debug!(%object, "reconciled"),
        // Deleted while it was waiting to be reconciled.
        Err(controller::Error::ObjectNotFound(object)) => debug!(%object, "gone"),
        Err(controller::Error::ReconcilerFailed(error, object)) => {
            warn!(%object, "not reconciled: {error}")
        }
        Err(controller::Error::QueueError(error)) => warn!("watch failed: {error}"),
        Err(controller::Error::RunnerError(error)) => warn!("{error}"),
    }
}
