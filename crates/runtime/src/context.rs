//! What every controller is given.

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

/// What controllers share: a client, the arguments, metrics. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    /// The client of the cluster.
    pub client: Client,
    /// The operator that runs.
    pub operator: Operator,
    /// The arguments of the manager.
    pub options: Arc<Options>,
    /// What `/metrics` shows.
    pub metrics: Metrics,
    /// What `/readyz` waits for.
    pub readiness: Readiness,
    /// The field manager of what is applied. A second controller of a kind has one of its own: what a field manager applied and now
    /// leaves out is removed, so two controllers with one field manager would remove what the other applied.
    pub field_manager: Arc<str>,
    pub(crate) owned: Arc<Owned>,
    #[cfg(feature = "helm")]
    pub(crate) helm: Arc<crate::helm::Helm>,
    #[cfg(feature = "ansible")]
    pub(crate) ansible: Arc<crate::ansible::Ansible>,
    /// The kinds of the cluster that were asked for.
    #[cfg(any(feature = "ansible", feature = "helm"))]
    pub(crate) kinds: Arc<crate::kinds::Kinds>,
    /// Of the controller.
    #[cfg(any(feature = "ansible", feature = "helm"))]
    pub(crate) trigger: Arc<crate::controller::Trigger>,
    /// The `Store<K>` of a controller.
    objects: Option<Arc<dyn Any + Send + Sync>>,
    /// Empty: the whole cluster.
    namespaces: Vec<String>,
    /// One tick for each reconcile, where `--rate` limits them.
    rate: Option<Arc<tokio::sync::Mutex<Interval>>>,
    shutdown: CancellationToken,
}

impl Context {
    /// A context outside of a [`Manager`](crate::Manager), which makes its own.
    pub fn new(client: Client, operator: Operator, options: Options) -> Self {
        let named = options.watch_namespace.iter().map(|name| name.trim());
        // Each once.
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
            #[cfg(feature = "helm")]
            helm: Arc::new(crate::helm::Helm::new(options.helm.clone())),
            #[cfg(feature = "ansible")]
            ansible: Arc::new(crate::ansible::Ansible::new(options.ansible.clone())),
            #[cfg(any(feature = "ansible", feature = "helm"))]
            kinds: Arc::default(),
            #[cfg(any(feature = "ansible", feature = "helm"))]
            trigger: Arc::default(),
            objects: None,
            namespaces: named.into_iter().map(str::to_owned).collect(),
            options: options.into(),
            rate,
            shutdown: CancellationToken::new(),
        }
    }

    /// One context for each time that a part runs.
    pub(crate) fn split(&self, runs: Runs) -> Vec<Self> {
        if runs != Runs::PerNamespace || self.namespaces.is_empty() {
            return vec![self.clone()];
        }
        let within = |namespace: &String| Self { namespaces: vec![namespace.clone()], ..self.clone() };
        self.namespaces.iter().map(within).collect()
    }

    /// The same for one controller, with a field manager of its own if it has a name of its own.
    pub(crate) fn of_controller(&self, name: Option<&str>) -> Self {
        let field_manager = match name {
            Some(name) => names::field_manager(self.operator.name, name).into(),
            None => self.field_manager.clone(),
        };
        Self {
            field_manager,
            owned: Arc::default(),
            #[cfg(any(feature = "ansible", feature = "helm"))]
            trigger: Arc::default(),
            ..self.clone()
        }
    }

    /// The objects to watch: those of one namespace, or of the whole cluster. A part that runs [`Runs::Once`] gets the whole cluster
    /// where several namespaces are watched, and needs the permissions for it: what belongs to its objects may be in any of them.
    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        match self.namespace() {
            Some(namespace) => Api::namespaced(self.client.clone(), namespace),
            None => Api::all(self.client.clone()),
        }
    }

    /// The only namespace to watch; `None` is the whole cluster.
    pub fn namespace(&self) -> Option<&str> {
        match self.namespaces.as_slice() {
            [namespace] => Some(namespace),
            _ => None,
        }
    }

    /// Waits while `--rate` forbids another reconcile; `None` if the operator shuts down meanwhile.
    pub(crate) async fn turn(&self) -> Option<()> {
        let Some(ticks) = &self.rate else {
            return Some(());
        };
        let tick = async { ticks.lock().await.tick().await };
        self.shutdown.run_until_cancelled(tick).await.map(drop)
    }

    /// All objects of the controller's kind, as its watch has seen them last. None outside of a
    /// [`Controller`](crate::Controller), and for any other kind.
    pub fn objects<K>(&self) -> Vec<Arc<K>>
    where
        K: Resource<DynamicType = ()> + Clone + 'static,
    {
        let store = self.objects.as_ref().and_then(|store| store.downcast_ref::<Store<K>>());
        store.map(Store::state).unwrap_or_default()
    }

    /// The same with these [`objects`](Self::objects), for a controller and for tests.
    #[must_use]
    pub fn with_objects<K>(self, objects: Store<K>) -> Self
    where
        K: Resource<DynamicType = ()> + Send + Sync + 'static,
    {
        Self { objects: Some(Arc::new(objects)), ..self }
    }

    /// For an object that needs nothing more: reconcile it again after `--requeue-interval`, in case an event was lost.
    pub fn requeue(&self) -> Action {
        let interval = Duration::from_secs(self.options.requeue_interval);
        Action::requeue(jittered(interval))
    }

    /// Publishes an event, which `kubectl describe` shows with the object. `reason` is one CamelCase word, `note` a sentence. A
    /// failure to publish is logged.
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
        // The API server refuses longer ones, and a longer name of the reporter.
        let (reason, note) = (shortened(reason, 128), shortened(note, 1024));
        let event = Event {
            type_,
            reason: reason.to_owned(),
            note: Some(note.to_owned()),
            action: "Reconcile".to_owned(),
            secondary: None,
        };
        // A recorder that lasts would keep each event in memory for minutes, and need the permission to patch it.
        let recorder = Recorder::new(self.client.clone(), Reporter::from(shortened(self.operator.name, 63)));
        recorder.publish(&event, object).await
    }

    /// Resolves when the operator shuts down.
    pub fn shutdown(&self) -> WaitForCancellationFutureOwned {
        self.shutdown.clone().cancelled_owned()
    }

    /// Starts the shutdown.
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

/// The parts that are not ready yet, each as often as it runs.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<Mutex<Vec<&'static str>>>);

impl Readiness {
    /// Waits for one more part with this name.
    pub fn wait_for(&self, name: &'static str) {
        self.parts().push(name);
    }

    /// A part with this name is ready.
    pub fn reached(&self, name: &'static str) {
        let mut parts = self.parts();
        if let Some(at) = parts.iter().position(|part| *part == name) {
            parts.remove(at);
            if parts.is_empty() {
                info!("all controllers and servers are ready");
            }
        }
    }

    /// The parts that are not ready; empty when the operator is.
    pub fn missing(&self) -> Vec<&'static str> {
        Vec::from_iter(self.parts().iter().copied().collect::<BTreeSet<_>>())
    }

    fn parts(&self) -> MutexGuard<'_, Vec<&'static str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
