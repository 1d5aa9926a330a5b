//! Controllers: which objects they watch, and what they make of them.

mod backoff;
mod children;
mod drive;
mod finalizer;
mod misfits;
mod outcome;
mod owned;
mod readiness;
mod received;
#[cfg(any(feature = "ansible", feature = "helm"))]
mod trigger;
mod watch;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use futures::{FutureExt, StreamExt, TryFutureExt, stream};
use kube::Resource;
use kube::api::{Api, ApiResource, ListParams, ObjectMeta};
use kube::core::DynamicResourceScope;
use kube::runtime::WatchStreamExt;
use kube::runtime::controller::{Action, Controller as KubeController};
use kube::runtime::reflector::{self, ObjectRef, Store};
use kube::runtime::watcher::{self, Event};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::apply::{api_for, is_namespaced};
use crate::conditions::READY;
use crate::manager::{self, Runnable, Runs};
use crate::{Context, Error};
use finalizer::Step;
use misfits::Misfits;
use outcome::Writer;
use received::{Child, Received};

pub(crate) use backoff::jittered;
pub use children::Children;
#[cfg(feature = "helm")]
pub(crate) use children::ready_of;
pub use drive::drive;
pub use outcome::{IntoOutcome, Outcome};
pub(crate) use owned::Owned;
pub use readiness::{Readiness, readiness};
#[cfg(any(feature = "ansible", feature = "helm"))]
pub(crate) use trigger::{Name, Trigger, watch};

/// A controller of the objects of kind `K`.
///
/// It calls `reconcile` after each change of an object, of what it [owns](Self::owns) and [watches](Self::watches), after a failure, and
/// once every `--requeue-interval`. What `reconcile` returns becomes the status of the object: an [`Outcome`], a `Condition`, kube's
/// [`Action`] or `()`, which leave the status alone, or an [`Error`], which becomes the condition `Ready`.
///
/// An object that cannot be decoded into its Rust type does not stop the others. It is left out until it fits, and named in a log line,
/// the metrics, an event, and, where `reconcile` returns an [`Outcome`], the condition of its status. Nor does a `reconcile` that
/// panics: this is an error like others, unless the profile has `panic = "abort"`, where it ends the process.
///
/// ```
/// # use std::sync::Arc;
/// # use k8s_openapi::api::apps::v1::Deployment;
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// use opctl_runtime::{Children, Context, Controller, Outcome, Result, Runnable};
///
/// pub fn controller() -> Runnable {
///     Controller::<ConfigMap>::new(reconcile).owns::<Deployment>().into()
/// }
///
/// async fn reconcile(object: Arc<ConfigMap>, ctx: Arc<Context>) -> Result<Outcome> {
///     let mut children = Children::of(&*object, &ctx);
///     // children.apply(…).await?;
///     Ok(children.outcome())
/// }
/// ```
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create
pub struct Controller<K: Kind> {
    name: Option<&'static str>,
    config: watcher::Config,
    writer: Writer,
    reconcile: Arc<Reconcile<K>>,
    finalizer: Option<Finalizer<K>>,
    timeout: Option<Duration>,
    /// Kinds that have to exist before the controller starts.
    checks: Vec<Box<Check>>,
    relations: Vec<Box<Relation<K>>>,
}

/// A kind that can be reconciled: one that `#[derive(CustomResource)]` makes, or a type of Kubernetes.
pub trait Kind:
    Resource<DynamicType = (), Scope: 'static> + Clone + Debug + DeserializeOwned + Serialize + Send + Sync + 'static
{
}

impl<K> Kind for K where
    K: Resource<DynamicType = (), Scope: 'static>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize
        + Send
        + Sync
        + 'static
{
}

type Cleanup<K> = dyn Fn(Arc<K>, Arc<Context>) -> BoxFuture<'static, Result<(), Error>> + Send + Sync;
type Reconcile<K> = dyn Fn(Arc<K>, Arc<Context>) -> BoxFuture<'static, Result<Outcome, Error>> + Send + Sync;
/// Adds a watch to the controller of this name, and returns what reports the objects that do not fit their type.
type Relation<K> = dyn Fn(KubeController<K>, &'static str, &Context) -> (KubeController<K>, Option<BoxFuture<'static, ()>>)
    + Send
    + Sync;
type Check = dyn Fn(Context) -> BoxFuture<'static, Result<(), manager::Error>> + Send + Sync;

struct Finalizer<K> {
    name: &'static str,
    cleanup: Arc<Cleanup<K>>,
}

impl<K: Kind> Controller<K> {
    /// A controller that calls `reconcile` for each object.
    pub fn new<R, F, O, E>(reconcile: R) -> Self
    where
        R: Fn(Arc<K>, Arc<Context>) -> F + Send + Sync + 'static,
        F: Future<Output = Result<O, E>> + Send + 'static,
        O: IntoOutcome + 'static,
        E: Into<Error>,
    {
        Self {
            name: None,
            config: watcher::Config::default(),
            writer: Writer::new(READY, O::WRITES),
            reconcile: Arc::new(move |object, ctx| {
                drive::caught(reconcile(object, ctx).map_ok(O::into_outcome).err_into()).boxed()
            }),
            finalizer: None,
            timeout: None,
            checks: vec![Box::new(|ctx| check::<K>(ctx).boxed())],
            relations: Vec::new(),
        }
    }

    /// Names the controller in probes, metrics, logs and its field manager. Without it, it is called `<plural>.<group>`. Each controller
    /// beside the first one of a kind needs a name.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// The type of the condition that sums up this controller, instead of `Ready`, for a second controller of the kind: fields of the
    /// status that it does not name, `observedGeneration` among them, are left to the first one.
    #[must_use]
    pub fn condition(mut self, name: &'static str) -> Self {
        self.writer.condition = name;
        self
    }

    /// Ends a call of `reconcile` or `cleanup` after this time, and tries it again as after any other error, whose reason is `TimedOut`.
    /// By default, a call may take any time.
    ///
    /// Its future is dropped where it waits, so what it has done until then stays done. A call that blocks its thread instead of
    /// waiting cannot be ended: it belongs into [`tokio::task::spawn_blocking`].
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Watches only what this selects, such as `watcher::Config::default().labels("app=web")`.
    #[must_use]
    pub fn config(mut self, config: watcher::Config) -> Self {
        self.config = config;
        self
    }

    /// Reconciles an object after a change of a `C` that it owns: see [`Children`]. The first reconcile waits until all of them are
    /// listed.
    ///
    /// Only their names, versions and owners are kept in memory. A change that Kubernetes' own controller of the kind has not seen yet,
    /// such as a Deployment that was applied a moment ago, is skipped: another one follows when it has.
    #[must_use]
    pub fn owns<C: Kind>(self) -> Self {
        self.owns_with::<C>(watcher::Config::default())
    }

    /// The same for those that this selects.
    #[must_use]
    pub fn owns_with<C: Kind>(mut self, config: watcher::Config) -> Self {
        self.checks.push(Box::new(|ctx| check::<C>(ctx).boxed()));
        self.relations.push(Box::new(move |controller, name, ctx| {
            let index = ctx.owned.watch::<K, C>(&ctx.field_manager);
            let api: Api<Child<C>> = watched::<C, _>(ctx);
            let changes = watch::watch(name, ctx, api, config.clone())
                .flat_map(move |event| stream::iter(event.map(|event| index.note(event)).unwrap_or_default()).map(Ok));
            (controller.owns_stream(changes.touched_objects()), None)
        }));
        self
    }

    /// Reconciles the objects that `related` names after a change of a `W`, which they do not own.
    #[must_use]
    pub fn watches<W, I>(self, related: impl Fn(W) -> I + Clone + Send + Sync + 'static) -> Self
    where
        W: Kind,
        I: IntoIterator<Item = ObjectRef<K>, IntoIter: Send> + 'static,
    {
        self.watches_with(watcher::Config::default(), related)
    }

    /// The same for those that this selects.
    #[must_use]
    pub fn watches_with<W, I>(
        self,
        config: watcher::Config,
        related: impl Fn(W) -> I + Clone + Send + Sync + 'static,
    ) -> Self
    where
        W: Kind,
        I: IntoIterator<Item = ObjectRef<K>, IntoIter: Send> + 'static,
    {
        self.relate(config, move |_| related.clone())
    }

    /// Reconciles the objects that `is_related` accepts, of all that the controller knows, after a change of a `W`, which they do not
    /// own: for objects that name what they depend on.
    #[must_use]
    pub fn watches_when<W: Kind>(self, is_related: impl Fn(&K, &W) -> bool + Clone + Send + Sync + 'static) -> Self {
        self.relate(watcher::Config::default(), move |objects: Store<K>| {
            let is_related = is_related.clone();
            move |changed: W| {
                let mut related = objects.state();
                related.retain(|object| is_related(object, &changed));
                Vec::from_iter(related.iter().map(|object| ObjectRef::from_obj(&**object)))
            }
        })
    }

    fn relate<W, I, F>(
        mut self,
        config: watcher::Config,
        related: impl Fn(Store<K>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        W: Kind,
        I: IntoIterator<Item = ObjectRef<K>, IntoIter: Send> + 'static,
        F: Fn(W) -> I + Clone + Send + Sync + 'static,
    {
        self.checks.push(Box::new(|ctx| check::<W>(ctx).boxed()));
        self.relations.push(Box::new(move |controller, name, ctx| {
            let store = controller.store();
            let misfits = Misfits::new::<W>(name, ctx.clone(), None, None);
            let api: Api<Received<W>> = watched::<W, _>(ctx);
            let events = watch::watch(name, ctx, api, config.clone());
            // Without a store, there is nothing to take an object out of.
            let changes = watch::fitting(events, misfits.clone(), |_: &ObjectMeta| None).touched_objects();
            (controller.watches_stream(changes, related(store)), Some(misfits.report().boxed()))
        }));
        self
    }

    /// Reconciles an object after a change of an object of a [`Release`](crate::helm::Release) that belongs to it.
    #[cfg(feature = "helm")]
    #[must_use]
    pub fn releases(self) -> Self {
        self.triggered()
    }

    /// Reconciles an object when the trigger of the controller names it.
    #[cfg(any(feature = "ansible", feature = "helm"))]
    #[must_use]
    pub(crate) fn triggered(mut self) -> Self {
        self.relations.push(Box::new(|controller, _, ctx| {
            let changed = ctx.trigger.names().map(|(namespace, name)| {
                let object = ObjectRef::new(&name);
                namespace.iter().fold(object, |object, namespace| object.within(namespace))
            });
            (controller.reconcile_on(changed), None)
        }));
        self
    }

    /// Checks something else before the controller starts.
    #[cfg(any(feature = "ansible", feature = "helm"))]
    #[must_use]
    pub(crate) fn check(
        mut self,
        check: impl Fn(Context) -> BoxFuture<'static, Result<(), manager::Error>> + Send + Sync + 'static,
    ) -> Self {
        self.checks.push(Box::new(check));
        self
    }

    /// Calls `cleanup` before an object is deleted, for what Kubernetes does not delete with it, such as things outside of the
    /// cluster. Until it succeeds, the finalizer `name` (`<domain>/<name>`) keeps the object.
    ///
    /// It runs whether or not the object was ever reconciled, again until it succeeds, and maybe once more: what is already gone is no
    /// failure.
    ///
    /// An object that does not fit its Rust type cannot be cleaned up: it stays until someone changes it so that it fits, or removes the
    /// finalizer. The event and the condition about it say so.
    #[must_use]
    pub fn finalizer<F, E>(
        mut self,
        name: &'static str,
        cleanup: impl Fn(Arc<K>, Arc<Context>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Error>,
    {
        let cleanup = Arc::new(move |object, ctx| drive::caught(cleanup(object, ctx).err_into()).boxed());
        self.finalizer = Some(Finalizer { name, cleanup });
        self
    }

    async fn run(self: Arc<Self>, name: &'static str, ctx: Context) -> Result<(), manager::Error> {
        for check in &self.checks {
            check(ctx.clone()).await?;
        }
        let ctx = ctx.of_controller(self.name);
        let misfits = {
            let writer = self.writer.writes.then(|| self.writer.clone());
            Misfits::new::<K>(name, ctx.clone(), writer, self.finalizer.as_ref().map(|it| it.name))
        };
        let (store, writer) = reflector::store::<K>();
        let ctx = ctx.with_objects(store.clone());
        if self.writer.writes {
            let (writer, store) = (self.writer.clone(), store.clone());
            let count = move || writer.count(store.state().iter().map(|object| &**object));
            ctx.metrics.count_objects(name, ctx.namespace(), count);
        }
        let last = {
            let store = store.clone();
            move |object: &ObjectMeta| {
                let id = ObjectRef::new(object.name.as_deref().unwrap_or_default());
                let id = object.namespace.iter().fold(id, |id, namespace| id.within(namespace));
                store.get(&id).map(Arc::unwrap_or_clone)
            }
        };
        let api: Api<Received<K>> = watched::<K, _>(&ctx);
        let events = watch::watch(name, &ctx, api, self.config.clone());
        let owned = ctx.owned.clone();
        let objects = watch::fitting(events, misfits.clone(), last)
            // The reconciles begin when all children are known: a child that is not is neither pruned nor compared.
            .then(move |event| {
                let owned = owned.clone();
                async move {
                    if matches!(event, Ok(Event::InitDone)) {
                        owned.filled().await;
                    }
                    event
                }
            })
            .reflect(writer)
            .touched_objects();
        let mut controller = KubeController::for_stream(objects, store);
        let mut reports = vec![misfits.report().boxed()];
        for relation in &self.relations {
            let (related, report) = relation(controller, name, &ctx);
            controller = related;
            reports.extend(report);
        }
        let reconcile = {
            let this = self.clone();
            move |object, ctx| this.clone().reconcile(object, ctx)
        };
        tokio::select! {
            ended = drive(name, controller, reconcile, ctx) => ended,
            _ = join_all(reports) => unreachable!("reports never end"),
        }
    }

    async fn reconcile(self: Arc<Self>, object: Arc<K>, ctx: Arc<Context>) -> Result<Action, Error> {
        let finalizer = self.finalizer.as_ref().map(|it| it.name);
        let result = match (Step::of(&*object, finalizer), &self.finalizer) {
            (Step::Add, Some(finalizer)) => return finalizer::add(&*object, finalizer.name, &ctx).await,
            (Step::CleanUp, Some(Finalizer { name, cleanup })) => {
                match self.in_time(cleanup(object.clone(), ctx.clone())).await {
                    Ok(()) => return finalizer::remove(&*object, name, &ctx).await,
                    Err(error) => Err(error),
                }
            }
            (Step::Leave, _) => return Ok(Action::await_change()),
            _ => self.in_time((self.reconcile)(object.clone(), ctx.clone())).await,
        };
        self.writer.settle(&*object, result, &ctx).await
    }

    async fn in_time<T>(&self, call: BoxFuture<'static, Result<T, Error>>) -> Result<T, Error> {
        let Some(limit) = self.timeout else { return call.await };
        let late = |_| Err(Error::new("TimedOut", format!("the reconcile did not end within {limit:?}")));
        timeout(limit, call).await.unwrap_or_else(late)
    }
}

impl<K: Kind> From<Controller<K>> for Runnable {
    fn from(controller: Controller<K>) -> Self {
        let resource = ApiResource::erase::<K>(&());
        let name = controller.name.unwrap_or_else(|| match resource.group.as_str() {
            // One for each controller, for as long as the process runs.
            "" => resource.plural.leak(),
            group => format!("{}.{group}", resource.plural).leak(),
        });
        let runs = if is_namespaced::<K>() { Runs::PerNamespace } else { Runs::Once };
        let controller = Arc::new(controller);
        Runnable::new(name, runs, move |ctx| controller.clone().run(name, ctx))
    }
}

impl<K: Kind> Debug for Controller<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controller").field("kind", &K::kind(&())).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Lists one object, so that a missing CRD or permission stops the start with its reason. It may be one that does not fit its type.
async fn check<K: Kind>(ctx: Context) -> Result<(), manager::Error> {
    let resource = ApiResource::erase::<K>(&());
    let api: Api<Child<K>> = watched::<K, _>(&ctx);
    match api.list(&ListParams::default().limit(1)).await {
        Ok(_) => Ok(()),
        // The code: this 404 is about the path, so it comes without a reason.
        Err(kube::Error::Api(status)) if status.code == 404 => {
            Err(manager::Error::NotInstalled(format!("{} {}", resource.api_version, resource.kind)))
        }
        Err(error) => Err(error.into()),
    }
}

/// The objects of kind `K` to watch, under another type.
fn watched<K, T>(ctx: &Context) -> Api<T>
where
    K: Resource<Scope: 'static>,
    T: Resource<DynamicType = (), Scope = DynamicResourceScope>,
{
    api_for(&ctx.client, ctx.namespace().filter(|_| is_namespaced::<K>()))
}
