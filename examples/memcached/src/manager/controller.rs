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

//! The life of one controller: from the check that it can start to the last reconcile at shutdown.

use std::error::Error as _;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::future::ready;
use kube::api::{Api, ApiResource, ListParams};
use kube::core::Status;
use kube::runtime::controller::{Action, Config, Controller, Error as Outcome};
use kube::runtime::reflector::{self, ObjectRef};
use kube::runtime::{WatchStreamExt, finalizer, watcher};
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::{Instrument, debug, error, error_span, field, warn};

use super::backoff::{Backoff, Pause};
use super::{Context, Error, brief};
use crate::telemetry;

/// Why a reconcile failed.
pub trait Failure: std::error::Error + Send + 'static {
    /// One CamelCase word of a few: the reason in the condition, and the label of the metric.
    fn reason(&self) -> &'static str;
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

/// What `Controller::new` gives, but without `managedFields` in memory: they are often larger than the object.
pub fn controller<K>(api: Api<K>, config: watcher::Config) -> Controller<K>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + Sync + 'static,
{
    let (store, writer) = reflector::store();
    let objects = watcher(api, config)
        .modify(|object: &mut K| object.managed_fields_mut().clear())
        .reflect(writer)
        .touched_objects();
    Controller::for_stream(objects, store)
}

/// kube's [`finalizer`], but with the errors of the reconcile, and without one where the object is gone already or has changed:
/// the watch that tells so may be slower.
pub async fn with_finalizer<K, R, F, E>(
    api: &Api<K>,
    name: &str,
    object: Arc<K>,
    reconcile: R,
) -> Result<Action, E>
where
    K: Resource + Clone + DeserializeOwned + Serialize + Debug,
    R: FnOnce(finalizer::Event<K>) -> F,
    F: Future<Output = Result<Action, E>>,
    E: Failure + From<kube::Error>,
{
    match finalizer(api, name, object, reconcile).await {
        Ok(action) => Ok(action),
        Err(finalizer::Error::ApplyFailed(error) | finalizer::Error::CleanupFailed(error)) => {
            Err(error)
        }
        Err(finalizer::Error::RemoveFinalizer(kube::Error::Api(gone))) if gone.is_not_found() => {
            Ok(Action::await_change())
        }
        Err(
            finalizer::Error::AddFinalizer(kube::Error::Api(error))
            | finalizer::Error::RemoveFinalizer(kube::Error::Api(error)),
        ) if is_outdated(&error) => Ok(Action::requeue(Duration::from_secs(1))),
        Err(finalizer::Error::AddFinalizer(error) | finalizer::Error::RemoveFinalizer(error)) => {
            Err(error.into())
        }
        Err(error) => unreachable!("not of an object that the API server sent: {error}"),
    }
}

/// Whether a JSON patch was refused since the object has changed: what is wrong with an object itself is said with its name.
fn is_outdated(error: &Status) -> bool {
    error.is_invalid() && error.details.as_ref().is_none_or(|it| it.name.is_empty())
}

/// Runs a controller until shutdown. Around each reconcile: a span with a trace id, metrics, a log line, and after a failure
/// a pause that is longer each time.
///
/// `reconcile` is a closure where it needs more than the context: clones of what it captures go into each future.
pub async fn drive<K, R, F, E>(
    name: &'static str,
    controller: Controller<K>,
    reconcile: R,
    ctx: Context,
) -> Result<(), Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + Sync + 'static,
    R: Fn(Arc<K>, Arc<Context>) -> F,
    F: Future<Output = Result<Action, E>> + Send + 'static,
    E: Failure,
{
    let controller = controller
        .with_config(Config::default().concurrency(ctx.options.concurrency))
        .trigger_backoff(Pause)
        .graceful_shutdown_on(ctx.shutdown());
    let store = controller.store();
    let backoff = Backoff::default();
    let observed = |object: Arc<K>, ctx: Arc<Context>| {
        let id = ObjectRef::from_obj(&*object);
        let path = [id.namespace, Some(id.name)];
        // Of this level, so that it is there for all lines, whatever RUST_LOG says.
        let span = error_span!(
            "reconcile",
            controller = name,
            object = path.into_iter().flatten().collect::<Vec<_>>().join("/"),
            trace_id = field::Empty
        );
        telemetry::identify(&span);
        let reconcile = reconcile(object.clone(), ctx.clone());
        let backoff = backoff.clone();
        async move {
            if ctx.turn().await.is_none() {
                return Ok(Action::await_change());
            }
            let start = Instant::now();
            let outcome = reconcile.await;
            let result = match &outcome {
                Ok(action) => {
                    debug!("reconciled");
                    backoff.reset(&*object);
                    Ok(*action != Action::await_change())
                }
                Err(error) => {
                    error!("not reconciled: {error}");
                    Err(error.reason())
                }
            };
            ctx.metrics.reconciled(name, result, start.elapsed());
            outcome
        }
        .instrument(span)
    };
    let again = |object: Arc<K>, _: &E, _| Action::requeue(backoff.next(&*object));
    let reconciles = controller
        .run(observed, again, Arc::new(ctx.clone()))
        .for_each(|outcome| {
            match outcome {
                Err(Outcome::QueueError(error)) => {
                    // The text of a request's error repeats the whole answer.
                    let request = error.source().and_then(|cause| cause.downcast_ref());
                    let why = request.map_or_else(|| error.to_string(), brief);
                    warn!(controller = name, "watch failed: {why}");
                }
                Err(Outcome::RunnerError(error)) => warn!(controller = name, "{error}"),
                // Logged above, within its span; or the object was deleted before its turn.
                Ok(_) | Err(Outcome::ReconcilerFailed(..) | Outcome::ObjectNotFound(_)) => {}
            }
            ready(())
        });
    // In one task: a store wakes only the task that asked last.
    let filled = async {
        if store.wait_until_ready().await.is_ok() {
            ctx.readiness.reached(name);
        }
    };
    tokio::join!(reconciles, filled);
    Ok(())
}
