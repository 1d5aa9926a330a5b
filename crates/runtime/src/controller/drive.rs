//! Runs a controller of kube's until shutdown, with what belongs around each reconcile.

use std::error::Error as _;
use std::fmt;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use futures::future::ready;
use kube::Resource;
use kube::runtime::controller::{Action, Config, Controller, Error as Outcome};
use kube::runtime::reflector::ObjectRef;
use serde::de::DeserializeOwned;
use tracing::{Instrument, debug, error, error_span, field, info, warn};

use super::backoff::{Backoff, Pause};
use super::outcome::Settled;
use crate::{Context, Error, brief, manager, telemetry};

/// Runs a controller built with plain kube-rs until shutdown, with what belongs around each reconcile: a span with a trace id,
/// metrics, a log line, `--concurrency` and `--rate`, and after a failure a pause that is longer each time.
///
/// ```
/// use std::sync::Arc;
///
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::runtime::controller::Action;
/// use opctl_runtime::controller::drive;
/// use opctl_runtime::{Context, Result, Runnable, Runs};
///
/// async fn reconcile(object: Arc<ConfigMap>, ctx: Arc<Context>) -> Result<Action> {
///     Ok(ctx.requeue())
/// }
///
/// fn plain() -> Runnable {
///     Runnable::new("plain", Runs::PerNamespace, async |ctx| {
///         let controller = kube::runtime::Controller::new(ctx.api::<ConfigMap>(), Default::default());
///         drive("plain", controller, reconcile, ctx).await
///     })
/// }
/// ```
///
/// # Errors
///
/// None at present: what fails is tried again.
pub async fn drive<K, R, F>(
    name: &'static str,
    controller: Controller<K>,
    reconcile: R,
    ctx: Context,
) -> Result<(), manager::Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + Sync + 'static,
    R: Fn(Arc<K>, Arc<Context>) -> F,
    F: Future<Output = Result<Action, Error>> + Send + 'static,
{
    let reconcile = |object, ctx| {
        let reconcile = reconcile(object, ctx);
        async { reconcile.await.map(|action| Settled { action, changes: Vec::new() }) }
    };
    drive_settled(name, controller, reconcile, ctx).await;
    Ok(())
}

/// The same for reconciles that know what they changed.
pub(super) async fn drive_settled<K, R, F>(name: &'static str, controller: Controller<K>, reconcile: R, ctx: Context)
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + Sync + 'static,
    R: Fn(Arc<K>, Arc<Context>) -> F,
    F: Future<Output = Result<Settled, Error>> + Send + 'static,
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
        // Of this level, so that all lines have it, whatever RUST_LOG is.
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
            let _running = ctx.metrics.running(name);
            let outcome = reconcile.await;
            let result = match &outcome {
                Ok(settled) => {
                    match settled.changes.is_empty() {
                        true => debug!("reconciled"),
                        false => info!("reconciled: {}", settled.changes.join("; ")),
                    }
                    backoff.reset(&*object);
                    Ok(settled.action != Action::await_change())
                }
                Err(error) => {
                    error!("reconcile failed: {error}");
                    Err(error.reason())
                }
            };
            ctx.metrics.reconciled(name, result, start.elapsed());
            match outcome {
                Ok(settled) => Ok(settled.action),
                Err(error) => Err(Failed(error)),
            }
        }
        .instrument(span)
    };
    let again = |object: Arc<K>, Failed(error): &Failed, ctx: Arc<Context>| match error.is_permanent() {
        true => ctx.requeue(),
        false => Action::requeue(backoff.next(&*object)),
    };
    let reconciles = controller.run(observed, again, Arc::new(ctx.clone())).for_each(|outcome| {
        match outcome {
            Err(Outcome::QueueError(error)) => {
                // The text of a request's error repeats the whole answer.
                let request = error.source().and_then(|cause| cause.downcast_ref());
                let why = request.map_or_else(|| crate::with_causes(&error), brief);
                warn!(controller = name, "watch failed, it starts again: {why}");
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
}

/// kube wants an error of the standard library's kind, which [`Error`] cannot be.
#[derive(Debug)]
struct Failed(Error);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Failed {}
