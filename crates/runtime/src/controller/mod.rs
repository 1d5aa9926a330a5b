//! Controllers: which objects they watch, and what they make of them.

mod backoff;
mod children;
mod drive;
mod finalizer;
mod outcome;
mod readiness;
mod received;
mod watch;

use std::fmt::Debug;
use std::future::ready;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use kube::Resource;
use kube::api::{Api, ApiResource, ListParams};
use kube::runtime::controller::Action;
use kube::runtime::reflector::{self, ObjectRef};
use kube::runtime::{WatchStreamExt, watcher};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::apply::{api_for, is_namespaced};
use crate::conditions::READY;
use crate::manager::{self, Runnable, Runs};
use crate::{Context, Error};
use finalizer::Step;
use outcome::{Settled, Writer};
use received::Child;
use watch::Watch;

pub(crate) use backoff::jittered;
pub use children::Children;
pub(crate) use children::Owned;
pub use drive::drive;
pub use outcome::{IntoOutcome, Outcome};
pub use readiness::{Readiness, readiness};

/// A controller of the objects of kind `K`.
///
/// It calls `reconcile` after each change of an object, of what it [owns](Self::owns) and [watches](Self::watches), after a failure, and
/// once every `--requeue-interval`. What `reconcile` returns becomes the status of the object: an [`Outcome`], a `Condition`, kube's
/// [`Action`] or `()`, which leave the status alone, or an [`Error`](crate::Error), which becomes the condition `Ready`.
///
/// An object that does not fit the Rust type does not stop the others: it is left out, and named in a log line, the metrics, an
/// event, and the condition `Ready` of its status, until it fits.
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
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
pub struct Controller<K: Kind> {
    name: Option<&'static str>,
    config: watcher::Config,
    writer: Writer,
    reconcile: Arc<Reconcile<K>>,
    finalizer: Option<Finalizer<K>>,
    /// Kinds that have to exist before the controller starts.
    checks: Vec<Check>,
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

type Reconcile<K> = dyn Fn(Arc<K>, Arc<Context>) -> BoxFuture<'static, Result<Outcome, Error>> + Send + Sync;
type Relation<K> = dyn Fn(kube::runtime::Controller<K>, Wiring) -> (kube::runtime::Controller<K>, Option<BoxFuture<'static, ()>>)
    + Send
    + Sync;
type Check = fn(Context) -> BoxFuture<'static, Result<(), manager::Error>>;

/// What a relation to another kind needs to know of its controller.
struct Wiring {
    name: &'static str,
    ctx: Context,
}

struct Finalizer<K> {
    name: &'static str,
    cleanup: Arc<dyn Fn(Arc<K>, Arc<Context>) -> BoxFuture<'static, Result<(), Error>> + Send + Sync>,
}

impl<K: Kind> Controller<K> {
    /// A controller that calls `reconcile` for each object.
    pub fn new<R, F, O, E>(reconcile: R) -> Self
    where
        R: Fn(Arc<K>, Arc<Context>) -> F + Send + Sync + 'static,
        F: Future<Output = Result<O, E>> + Send + 'static,
        O: IntoOutcome,
        E: Into<Error>,
    {
        Self {
            name: None,
            config: watcher::Config::default(),
            writer: Writer { condition: READY, writes: O::WRITES },
            reconcile: Arc::new(move |object, ctx| {
                let reconcile = reconcile(object, ctx);
                async { reconcile.await.map(O::into_outcome).map_err(Into::into) }.boxed()
            }),
            finalizer: None,
            checks: vec![|ctx| check::<K>(ctx).boxed()],
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

    /// Watches only what this selects, such as `watcher::Config::default().labels("app=web")`.
    #[must_use]
    pub fn config(mut self, config: watcher::Config) -> Self {
        self.config = config;
        self
    }

    /// Reconciles an object after a change of a `C` that it owns: see [`Children`].
    ///
    /// Only metadata and `status.observedGeneration` are kept in memory while they are looked at. A change that the controller of the
    /// kind has not seen yet, such as a Deployment that was applied a moment ago, is skipped: there will be another one.
    #[must_use]
    pub fn owns<C: Kind>(self) -> Self {
        self.owns_with::<C>(watcher::Config::default())
    }

    /// The same for those that this selects.
    #[must_use]
    pub fn owns_with<C: Kind>(mut self, config: watcher::Config) -> Self {
        self.checks.push(|ctx| check::<C>(ctx).boxed());
        self.relations.push(Box::new(move |controller, Wiring { ctx, name }| {
            let api: Api<Child<C>> = match is_namespaced::<K>() && is_namespaced::<C>() {
                true => api_for(&ctx.client, ctx.namespace(), &()),
                false => Api::all_with(ctx.client.clone(), &()),
            };
            let changes = watcher(api, config.clone()).filter(move |event| ready(is_news(event, &ctx, name)));
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
        mut self,
        config: watcher::Config,
        related: impl Fn(W) -> I + Clone + Send + Sync + 'static,
    ) -> Self
    where
        W: Kind,
        I: IntoIterator<Item = ObjectRef<K>, IntoIter: Send> + 'static,
    {
        self.checks.push(|ctx| check::<W>(ctx).boxed());
        self.relations.push(Box::new(move |controller, Wiring { ctx, name }| {
            let ctx = match is_namespaced::<K>() && is_namespaced::<W>() {
                true => ctx,
                false => ctx.everywhere(),
            };
            let (watch, reports) = Watch::new(name, &ctx, None);
            let changes = watch.objects::<W>(config.clone(), |_| None).touched_objects();
            let reports = watch::publish::<W>(reports, ctx).boxed();
            (controller.watches_stream(changes, related.clone()), Some(reports))
        }));
        self
    }

    /// Calls `cleanup` before an object is deleted, for what Kubernetes does not delete with it, such as things outside of the
    /// cluster. Until it succeeds, the finalizer `name` (`<domain>/<name>`) keeps the object.
    ///
    /// It runs whether or not the object was ever reconciled, and again until it succeeds: what is already gone is no failure.
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
        let cleanup = Arc::new(move |object, ctx| {
            let cleanup = cleanup(object, ctx);
            async { cleanup.await.map_err(Into::into) }.boxed()
        });
        self.finalizer = Some(Finalizer { name, cleanup });
        self
    }

    async fn run(self: Arc<Self>, name: &'static str, ctx: Context) -> Result<(), manager::Error> {
        for check in &self.checks {
            check(ctx.clone()).await?;
        }
        let ctx = ctx.of_controller(self.name);
        let (watch, reports) = Watch::new(name, &ctx, self.writer.writes.then_some(self.writer));
        let (store, writer) = reflector::store::<K>();
        let last = {
            let store = store.clone();
            move |(namespace, name): &(Option<String>, String)| {
                let id = ObjectRef::new(name);
                let id = namespace.iter().fold(id, |id, namespace| id.within(namespace));
                store.get(&id).map(Arc::unwrap_or_clone)
            }
        };
        let objects = watch.objects(self.config.clone(), last).reflect(writer).touched_objects();
        let mut controller = kube::runtime::Controller::for_stream(objects, store);
        let mut tasks = vec![watch::publish::<K>(reports, ctx.clone()).boxed()];
        for relation in &self.relations {
            let (related, task) = relation(controller, Wiring { name, ctx: ctx.clone() });
            controller = related;
            tasks.extend(task);
        }
        let reconcile = {
            let this = self.clone();
            move |object, ctx| this.clone().reconcile(object, ctx)
        };
        let reports = async {
            futures::future::join_all(tasks).await;
            std::future::pending::<()>().await
        };
        tokio::select! {
            () = drive::drive_settled(name, controller, reconcile, ctx) => Ok(()),
            () = reports => Ok(()),
        }
    }

    async fn reconcile(self: Arc<Self>, object: Arc<K>, ctx: Arc<Context>) -> Result<Settled, Error> {
        let finalizer = self.finalizer.as_ref().map(|it| it.name);
        let action = match (Step::of(&*object, finalizer), &self.finalizer) {
            (Step::Add, Some(finalizer)) => finalizer::add(&*object, finalizer.name, &ctx).await?,
            (Step::CleanUp, Some(Finalizer { name, cleanup })) => match cleanup(object.clone(), ctx.clone()).await {
                Ok(()) => finalizer::remove(&*object, name, &ctx).await?,
                Err(error) => return self.writer.settle(&*object, Err(error), &ctx).await,
            },
            (Step::Leave, _) => Action::await_change(),
            _ => {
                let outcome = (self.reconcile)(object.clone(), ctx.clone()).await;
                return self.writer.settle(&*object, outcome, &ctx).await;
            }
        };
        Ok(Settled { action, changes: Vec::new() })
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

/// Lists one object, so that a missing CRD or permission stops the start with its reason.
///
/// Only metadata is read: an object that does not fit the Rust type must not stop the operator.
async fn check<K: Kind>(ctx: Context) -> Result<(), manager::Error> {
    let resource = ApiResource::erase::<K>(&());
    let namespace = ctx.namespace().filter(|_| is_namespaced::<K>());
    let api: Api<Child<K>> = api_for(&ctx.client, namespace, &());
    match api.list_metadata(&ListParams::default().limit(1)).await {
        Ok(_) => Ok(()),
        // The code: this 404 is about the path, so it comes without a reason.
        Err(kube::Error::Api(status)) if status.code == 404 => {
            Err(manager::Error::NotInstalled(format!("{} {}", resource.api_version, resource.kind)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Notes a change of a child, and tells whether there is something in it to reconcile: its controller will soon change the status of
/// one that was applied a moment ago.
fn is_news<C>(event: &watcher::Result<watcher::Event<Child<C>>>, ctx: &Context, controller: &'static str) -> bool
where
    C: Resource<DynamicType = ()>,
{
    match event {
        Ok(watcher::Event::Init) => ctx.owned.clear::<C>(),
        Ok(watcher::Event::Apply(child) | watcher::Event::InitApply(child)) => {
            ctx.owned.insert::<C>(&child.metadata, &ctx.field_manager);
            if matches!(event, Ok(watcher::Event::Apply(_))) {
                return child.is_observed();
            }
        }
        Ok(watcher::Event::Delete(child)) => ctx.owned.remove::<C>(&child.metadata),
        Ok(watcher::Event::InitDone) => {}
        Err(_) => ctx.metrics.watch_restarted(controller, &C::kind(&())),
    }
    true
}
