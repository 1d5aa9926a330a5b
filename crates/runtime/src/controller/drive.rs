//! Runs a kube controller until shutdown, with tracing, metrics, limits and backoff around each reconcile.

use std::any::Any;
use std::fmt;
use std::fmt::Debug;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::ready;
use futures::{FutureExt, StreamExt};
use kube::Resource;
use kube::runtime::controller::{Action, Config, Controller, Error as Outcome};
use kube::runtime::reflector::ObjectRef;
use serde::de::DeserializeOwned;
use tracing::{Instrument, debug, error, error_span, field, warn};

use super::backoff::{Backoff, Pause};
use super::watch;
use crate::{Context, Error, manager, telemetry};

/// Duration of a single poll after which the reconcile is reported as blocking: it delays other tasks, including probes
/// and metrics.
const BLOCKED: Duration = Duration::from_secs(5);

/// Runs a controller built with plain kube-rs until shutdown. Each reconcile gets a span with a trace id, metrics and a
/// log line, the limits `--concurrency` and `--rate`, and exponential backoff after a failure or a panic.
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
/// None at present: failures are retried.
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
    let controller = controller
        .with_config(Config::default().concurrency(ctx.options.concurrency))
        .trigger_backoff(Pause)
        .graceful_shutdown_on(ctx.shutdown());
    let store = controller.store();
    let backoff = Backoff::default();
    let observed = |object: Arc<K>, ctx: Arc<Context>| {
        let id = ObjectRef::from_obj(&*object);
        let path = [id.namespace, Some(id.name)];
        // At level error, so that every log line has the span for any value of RUST_LOG.
        let span = error_span!(
            "reconcile",
            controller = name,
            object = path.into_iter().flatten().collect::<Vec<_>>().join("/"),
            trace_id = field::Empty
        );
        telemetry::identify(&span);
        let mut reconcile = Box::pin(caught(reconcile(object.clone(), ctx.clone())));
        let backoff = backoff.clone();
        async move {
            if ctx.turn().await.is_none() {
                return Ok(Action::await_change());
            }
            let start = Instant::now();
            let _running = ctx.metrics.running(name);
            let outcome = poll_fn(|context| {
                let step = Instant::now();
                let polled = reconcile.as_mut().poll(context);
                let took = step.elapsed();
                if took >= BLOCKED {
                    warn!(
                        "a step of the reconcile blocked its thread for {took:.1?}: use `tokio::task::spawn_blocking`"
                    );
                    ctx.metrics.blocked(name);
                }
                polled
            })
            .await;
            let result = match &outcome {
                Ok(action) => {
                    debug!("reconciled");
                    backoff.reset(&*object);
                    Ok(*action != Action::await_change())
                }
                Err(error) => {
                    error!("reconcile failed: {error}");
                    Err(error.reason())
                }
            };
            ctx.metrics.reconciled(name, result, start.elapsed());
            outcome.map_err(ReconcileError)
        }
        .instrument(span)
    };
    let again = |object: Arc<K>, ReconcileError(error): &ReconcileError, ctx: Arc<Context>| match error.is_permanent() {
        true => ctx.requeue(),
        false => Action::requeue(backoff.next(&*object)),
    };
    let reconciles = controller.run(observed, again, Arc::new(ctx.clone())).for_each(|outcome| {
        match outcome {
            Err(Outcome::QueueError(error)) => {
                warn!(controller = name, "watch failed, it starts again: {}", watch::why(&error));
            }
            Err(Outcome::RunnerError(error)) => warn!(controller = name, "{error}"),
            // Logged above, within the span; or the object was deleted before its reconcile.
            Ok(_) | Err(Outcome::ReconcilerFailed(..) | Outcome::ObjectNotFound(_)) => {}
        }
        ready(())
    });
    // Both run in one task, since a store wakes only the task that polled it last.
    let filled = async {
        if store.wait_until_ready().await.is_ok() {
            ctx.readiness.reached(name);
        }
    };
    tokio::join!(reconciles, filled);
    Ok(())
}

/// Converts a panic to an error: it concerns one object, and must not stop the others.
///
/// Uses combinators, since an `async` block that takes a future and awaits it is twice its size.
pub(super) fn caught<T>(reconcile: impl Future<Output = Result<T, Error>>) -> impl Future<Output = Result<T, Error>> {
    let text = |panic: Box<dyn Any + Send>| match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => {
            panic.downcast::<&str>().map_or_else(|_| "without a message".to_owned(), |text| (*text).to_owned())
        }
    };
    let panicked = move |panic| Err(Error::new("Panicked", format!("the reconcile panicked: {}", text(panic))));
    AssertUnwindSafe(reconcile).catch_unwind().map(move |caught| caught.unwrap_or_else(panicked))
}

/// kube requires `std::error::Error`, which [`Error`] cannot implement together with its `From` for every error.
#[derive(Debug)]
struct ReconcileError(Error);

impl fmt::Display for ReconcileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for ReconcileError {}
