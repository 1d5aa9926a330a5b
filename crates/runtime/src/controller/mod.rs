//! Controllers: watch objects and their relations, and reconcile them.

mod backlog;
mod backoff;
mod children;
mod drive;
mod finalizer;
#[cfg(any(feature = "ansible", feature = "helm"))]
mod metadata;
mod outcome;
mod owned;
mod readiness;
mod received;
mod scope;
mod trigger;
mod undecodable;
mod watch;

use std::fmt::Debug;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, Either, join_all};
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
use backlog::Backlog;
use finalizer::Step;
use outcome::Writer;
use received::{Child, Received};
use scope::{Events, Scope};
use trigger::reference;
use undecodable::UndecodableObjects;

pub(crate) use backoff::jittered;
pub use children::Children;
#[cfg(feature = "helm")]
pub(crate) use children::ready_of;
pub use drive::drive;
pub use outcome::{IntoOutcome, Outcome};
pub(crate) use owned::Owned;
pub use readiness::{Readiness, readiness};
#[cfg(feature = "shards")]
pub(crate) use scope::Generation;
pub(crate) use scope::{OwnerKind, Watched};
pub(crate) use trigger::Trigger;
#[cfg(any(feature = "ansible", feature = "helm"))]
pub(crate) use {metadata::watch, trigger::ObjectKey};

/// A controller for the objects of kind `K`.
///
/// It calls `reconcile` after each change of an object or of one that it [owns](Self::owns) or
/// [watches](Self::watches), after a failure, and once every `--requeue-interval`. The value that `reconcile` returns
/// becomes the status of the object: an [`Outcome`], a `Condition`, or an [`Error`], which becomes the condition
/// `Ready`. kube's [`Action`] and `()` leave the status alone. The write of this status is not a change that calls
/// `reconcile`; a change by someone else at the same time is.
///
/// An object that cannot be decoded into its Rust type does not stop the others. It is skipped until it can be decoded,
/// and reported in the log, the metrics, an event, and, if `reconcile` returns an [`Outcome`], a condition. A panic of
/// `reconcile` is handled as an error, unless the profile has `panic = "abort"`, which ends the process.
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
    /// Checks before the controller starts, such as that its kinds exist.
    checks: Vec<Box<Check>>,
    relations: Vec<Box<Relation<K>>>,
}

/// A kind that can be reconciled: a type with `#[derive(CustomResource)]`, or one of Kubernetes.
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
/// Adds a watch to the controller of this name. Also returns the task that reports undecodable objects, if any.
type Relation<K> = dyn Fn(KubeController<K>, &'static str, &Context) -> (KubeController<K>, Option<BoxFuture<'static, ()>>)
    + Send
    + Sync;
type Check = dyn Fn(Context) -> BoxFuture<'static, Result<(), manager::Error>> + Send + Sync;

struct Finalizer<K> {
    name: &'static str,
    cleanup: Arc<Cleanup<K>>,
}

impl<K: Kind> Controller<K> {
    /// Creates a controller that calls `reconcile` for each object.
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

    /// Sets the name of the controller in probes, metrics, logs and its field manager. Default: `<plural>.<group>`.
    /// Each further controller of a kind needs a name.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// Sets the type of the condition that summarizes this controller (default: `Ready`), for a second controller of a
    /// kind. Status fields that it does not set, including `observedGeneration`, are left to the first one.
    #[must_use]
    pub fn condition(mut self, name: &'static str) -> Self {
        self.writer.condition = name;
        self
    }

    /// Cancels a call of `reconcile` or `cleanup` after this time, and retries it as after any error, with reason
    /// `TimedOut`. Default: no limit.
    ///
    /// The future is dropped at an `await`; effects until then persist. A call that blocks its thread cannot be
    /// cancelled: use [`tokio::task::spawn_blocking`] for it.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Restricts the watch, such as to `watcher::Config::default().labels("app=web")`.
    #[must_use]
    pub fn config(mut self, config: watcher::Config) -> Self {
        self.config = config;
        self
    }

    /// Reconciles an object after a change of a `C` that it owns: see [`Children`]. The first reconcile waits until all
    /// of them are listed.
    ///
    /// Only names, versions and owners are cached. A change that the built-in controller of the kind has not observed,
    /// such as of a Deployment applied a moment ago, is skipped: another change follows when it has.
    #[must_use]
    pub fn owns<C: Kind>(self) -> Self {
        self.owns_with::<C>(watcher::Config::default())
    }

    /// Like the method above, restricted to the objects that `config` selects.
    #[must_use]
    pub fn owns_with<C: Kind>(mut self, config: watcher::Config) -> Self {
        self.checks.push(Box::new(|ctx| check::<C>(ctx).boxed()));
        self.relations.push(Box::new(move |controller, name, ctx| {
            let index = ctx.owned.watch::<K, C>(&ctx.field_manager);
            let start = move |ctx: &Context, config| watch::watch::<Child<C>>(name, ctx, watched::<C, _>(ctx), config);
            let known = index.clone();
            let is_known = move |child: &Child<C>| known.knows(&child.metadata);
            let (scope, children) = (Scope::of(ctx), Watched::Children(OwnerKind::of::<K>()));
            let Events { events, generation } = scope.watch(ctx, children, config.clone(), start, is_known);
            let changes = events.flat_map(move |event| {
                let events = event.map(|event| index.note(event, generation.get()));
                stream::iter(events.unwrap_or_default()).map(Ok)
            });
            (controller.owns_stream(changes.touched_objects()), None)
        }));
        self
    }

    /// Reconciles the objects that `related` returns after a change of a `W`, which they do not own.
    #[must_use]
    pub fn watches<W, I>(self, related: impl Fn(W) -> I + Clone + Send + Sync + 'static) -> Self
    where
        W: Kind,
        I: IntoIterator<Item = ObjectRef<K>, IntoIter: Send> + 'static,
    {
        self.watches_with(watcher::Config::default(), related)
    }

    /// Like the method above, restricted to the objects that `config` selects.
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

    /// Reconciles the cached objects for which `is_related` returns `true` after a change of a `W`, which they do not
    /// own: for objects that refer to their dependencies by name.
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
            let undecodable = UndecodableObjects::new::<W>(name, ctx.clone(), None, None);
            let api: Api<Received<W>> = watched::<W, _>(ctx);
            let events = watch::watch(name, ctx, api, config.clone());
            // The objects are not cached, so there is no old object to remove.
            let changes = watch::fitting(events, undecodable.clone(), |_: &ObjectMeta| None).touched_objects();
            (controller.watches_stream(changes, related(store)), Some(undecodable.report().boxed()))
        }));
        self
    }

    /// Reconciles an object after a change of an object of its [`Release`](crate::helm::Release).
    #[cfg(feature = "helm")]
    #[must_use]
    pub fn releases(self) -> Self {
        self.triggered()
    }

    /// Reconciles the objects that the controller's [`Trigger`] names.
    #[cfg(any(feature = "ansible", feature = "helm"))]
    #[must_use]
    pub(crate) fn triggered(mut self) -> Self {
        self.relations.push(Box::new(|controller, _, ctx| (controller.reconcile_on(ctx.trigger.objects()), None)));
        self
    }

    /// Adds a check before the controller starts.
    #[cfg(any(feature = "ansible", feature = "helm"))]
    #[must_use]
    pub(crate) fn check(
        mut self,
        check: impl Fn(Context) -> BoxFuture<'static, Result<(), manager::Error>> + Send + Sync + 'static,
    ) -> Self {
        self.checks.push(Box::new(check));
        self
    }

    /// Calls `cleanup` before an object is deleted, for resources that Kubernetes does not garbage-collect with it,
    /// such as those outside of the cluster. Until it succeeds, the finalizer `name` (`<domain>/<name>`) blocks the
    /// deletion.
    ///
    /// `cleanup` also runs for an object that was never reconciled, is retried until it succeeds, and may run again
    /// after that: it must succeed if there is nothing left to clean up.
    ///
    /// An undecodable object cannot be cleaned up: it remains until it is changed so that it can be decoded, or its
    /// finalizer is removed. Its event and condition explain this.
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
        let scope = Scope::of(&ctx);
        #[cfg(feature = "shards")]
        scope.check::<K>()?;
        let undecodable = {
            let writer = self.writer.writes.then(|| self.writer.clone());
            UndecodableObjects::new::<K>(name, ctx.clone(), writer, self.finalizer.as_ref().map(|it| it.name))
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
                let id = reference(object.namespace.as_deref(), object.name.as_deref().unwrap_or_default());
                store.get(&id).map(Arc::unwrap_or_clone)
            }
        };
        let start = move |ctx: &Context, config| watch::watch::<Received<K>>(name, ctx, watched::<K, _>(ctx), config);
        let Events { events, generation } =
            scope.watch(&ctx, Watched::Objects, self.config.clone(), start, |_: &Received<K>| false);
        let (owned, status) = (ctx.owned.clone(), self.writer.clone());
        let backlog = Backlog::new(store.clone(), ctx.queue.sender(), ctx.options.concurrency, scope.clone());
        let (listed, listing) = (scope.clone(), generation.clone());
        let changes = backlog.clone();
        let objects = watch::fitting(events, undecodable.clone(), last)
            // Reconciles start when all children are listed: `prune` misses an unlisted child, and `apply` cannot tell
            // if it changes it.
            .then(move |event| {
                let (owned, generation) = (owned.clone(), generation.get());
                async move {
                    if matches!(event, Ok(Event::InitDone)) {
                        owned.filled(generation).await;
                    }
                    event
                }
            })
            .reflect(writer)
            .filter(move |event| {
                ready(match event {
                    Ok(Event::Apply(object)) if status.is_own_write(object) => false,
                    Ok(event) => {
                        let is_change = changes.note(event);
                        match event {
                            Event::InitApply(object) if listed.is_new(object.meta()) => status.forget(object),
                            Event::InitDone => listed.is_listed(&listing),
                            _ => {}
                        }
                        is_change
                    }
                    Err(_) => true,
                })
            })
            .touched_objects();
        let mut controller = KubeController::for_stream(objects, store).reconcile_on(ctx.queue.objects());
        let mut reports = vec![undecodable.report().boxed()];
        for relation in &self.relations {
            let (related, report) = relation(controller, name, &ctx);
            controller = related;
            reports.extend(report);
        }
        let reconcile = {
            let this = self.clone();
            move |object: Arc<K>, ctx| {
                let entry = backlog.entry(&object);
                match scope.enter(object.meta()) {
                    Some(running) => {
                        Either::Left(this.clone().reconcile(object, ctx).inspect(move |_| drop((entry, running))))
                    }
                    // It is reconciled again if it comes back into the scope.
                    None => Either::Right(ready(Ok(Action::await_change()))),
                }
            }
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
            // Leaked once per controller, which lives as long as the process.
            "" => resource.plural.leak(),
            group => format!("{}.{group}", resource.plural).leak(),
        });
        let runs = if is_namespaced::<K>() { Runs::PerNamespace } else { Runs::Once };
        let controller = Arc::new(controller);
        Runnable::new(name, runs, move |ctx| controller.clone().run(name, ctx)).divisible()
    }
}

impl<K: Kind> Debug for Controller<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controller").field("kind", &K::kind(&())).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Lists one object, so that a missing CRD or permission fails the start with its cause. The object need not be
/// decodable.
async fn check<K: Kind>(ctx: Context) -> Result<(), manager::Error> {
    let resource = ApiResource::erase::<K>(&());
    let api: Api<Child<K>> = watched::<K, _>(&ctx);
    match api.list(&ListParams::default().limit(1)).await {
        Ok(_) => Ok(()),
        // Compares the code, since the 404 of an unknown path has no reason.
        Err(kube::Error::Api(status)) if status.code == 404 => {
            Err(manager::Error::NotInstalled(format!("{} {}", resource.api_version, resource.kind)))
        }
        Err(error) => Err(error.into()),
    }
}

/// The API of the objects of kind `K` to watch, decoded as `T`.
fn watched<K, T>(ctx: &Context) -> Api<T>
where
    K: Resource<Scope: 'static>,
    T: Resource<DynamicType = (), Scope = DynamicResourceScope>,
{
    api_for(&ctx.client, ctx.namespace().filter(|_| is_namespaced::<K>()))
}
