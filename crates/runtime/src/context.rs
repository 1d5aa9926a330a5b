//! The context of a reconcile: client, options and state that controllers share.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use kube::api::Api;
use kube::core::NamespaceResourceScope;
use kube::runtime::controller::Action;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::runtime::reflector::Store;
use kube::{Client, Resource};
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tracing::{info, warn};

use crate::controller::{Owned, jittered};
use crate::error::{brief, shortened};
use crate::manager::{Operator, Options, Runs};
use crate::names;
use crate::telemetry::metrics::Metrics;

/// Client, options, metrics and readiness, shared by all controllers. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    /// The client of the API server.
    pub client: Client,
    /// Name and version of the operator.
    pub operator: Operator,
    /// The arguments of the manager.
    pub options: Arc<Options>,
    /// The metrics of `/metrics`.
    pub metrics: Metrics,
    /// The controllers and servers that `/readyz` waits for.
    pub readiness: Readiness,
    /// The field manager for server-side apply. Each further controller of a kind has its own: applying removes the
    /// fields that the same manager applied before and now omits, so two controllers with one field manager would
    /// remove each other's fields.
    pub field_manager: Arc<str>,
    pub(crate) owned: Arc<Owned>,
    /// The slots of this replica; `None` if it reconciles all objects.
    #[cfg(feature = "shards")]
    pub(crate) slots: Option<Arc<crate::shards::Slots>>,
    #[cfg(feature = "helm")]
    pub(crate) helm: Arc<crate::helm::Helm>,
    #[cfg(feature = "ansible")]
    pub(crate) ansible: Arc<crate::ansible::Ansible>,
    /// Kinds without a Rust type, discovered so far.
    #[cfg(any(feature = "ansible", feature = "helm"))]
    pub(crate) kinds: Arc<crate::kinds::Kinds>,
    /// The objects that the controller reconciles although no event of a watch is about them at that time.
    pub(crate) queue: Arc<crate::controller::Trigger>,
    /// The objects to reconcile, by request of a part of this controller that is not a kube watch.
    #[cfg(any(feature = "ansible", feature = "helm"))]
    pub(crate) trigger: Arc<crate::controller::Trigger>,
    /// The `Store<K>` of the controller.
    objects: Option<Arc<dyn Any + Send + Sync>>,
    /// The namespaces to watch; empty for the whole cluster.
    namespaces: Vec<String>,
    /// Ticks once per reconcile, if `--rate` limits them.
    rate: Option<Arc<tokio::sync::Mutex<Interval>>>,
    shutdown: CancellationToken,
}

impl Context {
    /// Creates a context outside of a [`Manager`](crate::Manager), which creates its own.
    pub fn new(client: Client, operator: Operator, options: Options) -> Self {
        let named = options.watch_namespace.iter().map(|name| name.trim());
        let named: BTreeSet<_> = named.filter(|name| !name.is_empty()).collect();
        let pause = Duration::from_secs(1).checked_div(options.rate);
        let rate = pause.map(|pause| {
            let mut ticks = interval(pause);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            Arc::new(ticks.into())
        });
        Self {
            client,
            metrics: Metrics::new(operator),
            readiness: Readiness::default(),
            field_manager: operator.name.into(),
            operator,
            owned: Arc::default(),
            #[cfg(feature = "shards")]
            slots: None,
            #[cfg(feature = "helm")]
            helm: Arc::new(crate::helm::Helm::new(options.helm.clone())),
            #[cfg(feature = "ansible")]
            ansible: Arc::new(crate::ansible::Ansible::new(options.ansible.clone())),
            #[cfg(any(feature = "ansible", feature = "helm"))]
            kinds: Arc::default(),
            queue: Arc::default(),
            #[cfg(any(feature = "ansible", feature = "helm"))]
            trigger: Arc::default(),
            objects: None,
            namespaces: named.into_iter().map(str::to_owned).collect(),
            options: options.into(),
            rate,
            shutdown: CancellationToken::new(),
        }
    }

    /// One context per instance of a [`Runnable`](crate::Runnable): one per namespace, or one in all.
    pub(crate) fn split(&self, runs: Runs) -> Vec<Self> {
        if runs != Runs::PerNamespace || self.namespaces.is_empty() {
            return vec![self.clone()];
        }
        let within = |namespace: &String| Self { namespaces: vec![namespace.clone()], ..self.clone() };
        self.namespaces.iter().map(within).collect()
    }

    /// The context with another client.
    #[cfg(feature = "shards")]
    pub(crate) fn with_client(self, client: Client) -> Self {
        Self { client, ..self }
    }

    /// Cancelled when a component may run in this replica: `elected` when it leads, or with slots, a divisible one when
    /// it takes its share.
    pub(crate) fn may_run(&self, is_divisible: bool, elected: &CancellationToken) -> CancellationToken {
        #[cfg(feature = "shards")]
        if let Some(slots) = self.slots.as_ref().filter(|_| is_divisible) {
            return slots.joined.clone();
        }
        let _ = is_divisible;
        elected.clone()
    }

    /// The context of one controller. A named controller gets its own field manager.
    pub(crate) fn of_controller(&self, name: Option<&str>) -> Self {
        let field_manager = match name {
            Some(name) => names::field_manager(self.operator.name, name).into(),
            None => self.field_manager.clone(),
        };
        Self {
            field_manager,
            owned: Arc::default(),
            queue: Arc::default(),
            #[cfg(any(feature = "ansible", feature = "helm"))]
            trigger: Arc::default(),
            ..self.clone()
        }
    }

    /// The API of the objects to watch: those of one namespace, or of the whole cluster. A [`Runs::Once`] runnable gets
    /// the whole cluster if several namespaces are watched, since related objects may be in any of them. It needs
    /// cluster-wide permissions then.
    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        match self.namespace() {
            Some(namespace) => Api::namespaced(self.client.clone(), namespace),
            None => Api::all(self.client.clone()),
        }
    }

    /// The namespace to watch, if there is exactly one; `None` is the whole cluster.
    pub fn namespace(&self) -> Option<&str> {
        match self.namespaces.as_slice() {
            [namespace] => Some(namespace),
            _ => None,
        }
    }

    /// Waits until `--rate` permits another reconcile. Returns `None` if the operator shuts down meanwhile.
    pub(crate) async fn turn(&self) -> Option<()> {
        let Some(ticks) = &self.rate else {
            return Some(());
        };
        let tick = async { ticks.lock().await.tick().await };
        self.shutdown.run_until_cancelled(tick).await.map(drop)
    }

    /// All objects of the controller's kind, from the cache of its watch. Empty outside of a
    /// [`Controller`](crate::Controller), and for any other kind.
    pub fn objects<K>(&self) -> Vec<Arc<K>>
    where
        K: Resource<DynamicType = ()> + Clone + 'static,
    {
        let store = self.objects.as_ref().and_then(|store| store.downcast_ref::<Store<K>>());
        store.map(Store::state).unwrap_or_default()
    }

    /// Sets the store behind [`objects`](Self::objects), for a controller and for tests.
    #[must_use]
    pub fn with_objects<K>(self, objects: Store<K>) -> Self
    where
        K: Resource<DynamicType = ()> + Send + Sync + 'static,
    {
        Self { objects: Some(Arc::new(objects)), ..self }
    }

    /// Reconciles the object again after `--requeue-interval`, in case an event was lost.
    pub fn requeue(&self) -> Action {
        let interval = Duration::from_secs(self.options.requeue_interval);
        Action::requeue(jittered(interval))
    }

    /// Publishes an event about an object, as `kubectl describe` shows it. `reason` is one CamelCase word, `note` a
    /// sentence. Failures are logged.
    pub async fn event<K>(&self, object: &K, type_: EventType, reason: &str, note: impl Into<String>)
    where
        K: Resource<DynamicType = ()>,
    {
        if let Err(error) = self.publish(&object.object_ref(&()), type_, reason, &note.into()).await {
            warn!("event not published: {}", brief(&error));
        }
    }

    pub(crate) async fn publish(
        &self,
        object: &ObjectReference,
        type_: EventType,
        reason: &str,
        note: &str,
    ) -> Result<(), kube::Error> {
        // The limits of the API server; so is the 63 for the reporter below.
        let (reason, note) = (shortened(reason, 128), shortened(note, 1024));
        let event = Event {
            type_,
            reason: reason.to_owned(),
            note: Some(note.to_owned()),
            action: "Reconcile".to_owned(),
            secondary: None,
        };
        // A shared recorder would keep each event in memory for minutes, and need the permission to patch events.
        let recorder = Recorder::new(self.client.clone(), Reporter::from(shortened(self.operator.name, 63)));
        recorder.publish(&event, object).await
    }

    /// Resolves when the operator shuts down.
    pub fn shutdown(&self) -> WaitForCancellationFutureOwned {
        self.shutdown.clone().cancelled_owned()
    }

    /// Shuts the operator down.
    pub fn stop(&self) {
        self.shutdown.cancel();
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("operator", &self.operator)
            .field("namespaces", &self.namespaces)
            .finish_non_exhaustive()
    }
}

/// The controllers and servers that are not ready yet. A name occurs once for each instance.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<Mutex<Vec<&'static str>>>);

impl Readiness {
    /// Adds an instance of `name` to wait for.
    pub fn wait_for(&self, name: &'static str) {
        self.parts().push(name);
    }

    /// Reports that one instance of `name` is ready.
    pub fn reached(&self, name: &'static str) {
        let mut parts = self.parts();
        if let Some(at) = parts.iter().position(|part| *part == name) {
            parts.remove(at);
            if parts.is_empty() {
                info!("all controllers and servers are ready");
            }
        }
    }

    /// The names that are not ready, sorted and without duplicates; empty when the operator is ready.
    pub fn missing(&self) -> Vec<&'static str> {
        Vec::from_iter(self.parts().iter().copied().collect::<BTreeSet<_>>())
    }

    fn parts(&self) -> MutexGuard<'_, Vec<&'static str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
