//! The manager: starts and stops controllers and servers, with arguments, logs, leader election, probes and signals.

mod endpoints;
mod error;
mod options;

use std::collections::BTreeSet;
use std::fmt;
use std::future::pending;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{CommandFactory, FromArgMatches};
use futures::future::BoxFuture;
use kube::Client;
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::leader_election::{Leadership, Term};
use crate::telemetry::{self, metrics::Metrics};
use crate::{Context, client, with_causes};

pub use crate::leader_election::LeaseOptions;
pub use crate::telemetry::LogOptions;
pub use error::Error;
pub use options::{Options, address};

/// Name and version of the operator, for its logs, Lease, events and field managers. Created by
/// [`operator!`](crate::operator).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Operator {
    /// Name of the Cargo package.
    pub name: &'static str,
    /// Version of the Cargo package.
    pub version: &'static str,
}

/// The [`Operator`] with the name and version of the calling package.
#[macro_export]
macro_rules! operator {
    () => {
        $crate::Operator { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") }
    };
}

/// A component that runs until shutdown: a controller, a server, or a custom task.
///
/// A controller in plain kube-rs can be one, too:
///
/// ```
/// use std::sync::Arc;
///
/// use futures::StreamExt;
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::runtime::controller::{Action, Controller};
/// use opctl_runtime::{Runnable, Runs};
///
/// fn plain() -> Runnable {
///     Runnable::new("plain", Runs::PerNamespace, async |ctx| {
///         let reconcile = async |_: Arc<ConfigMap>, _: Arc<()>| Ok::<_, std::io::Error>(Action::await_change());
///         let retry = |_: Arc<ConfigMap>, _: &std::io::Error, _: Arc<()>| Action::await_change();
///         let controller = Controller::new(ctx.api::<ConfigMap>(), Default::default());
///         let reconciles = controller.graceful_shutdown_on(ctx.shutdown()).run(
///             move |object, context| Box::pin(reconcile(object, context)), retry, Arc::new(()));
///         ctx.readiness.reached("plain");
///         reconciles.for_each(|_| async {}).await;
///         Ok(())
///     })
/// }
/// ```
#[derive(Clone)]
pub struct Runnable {
    name: &'static str,
    runs: Runs,
    /// It reconciles only what belongs to its replica, so it runs in all of them if they share the objects.
    is_divisible: bool,
    run: Arc<dyn Fn(Context) -> BoxFuture<'static, Result<(), Error>> + Send + Sync>,
}

impl Runnable {
    /// Creates a component with this name in probes, metrics and logs. `run` returns after [`Context::shutdown`], or
    /// with an error, which stops the operator. It calls `ctx.readiness.reached(name)` when it works: until then,
    /// `/readyz` fails.
    pub fn new<F>(name: &'static str, runs: Runs, run: impl Fn(Context) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        Self { name, runs, is_divisible: false, run: Arc::new(move |ctx| Box::pin(run(ctx))) }
    }

    /// Marks a component that reconciles only what belongs to its replica.
    pub(crate) fn divisible(self) -> Self {
        Self { is_divisible: true, ..self }
    }

    /// The name in probes, metrics and logs: for a [`Controller`](crate::Controller) by default `<plural>.<group>` of
    /// its kind.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The instances and replicas that it runs in.
    pub fn runs(&self) -> Runs {
        self.runs
    }

    /// Runs it alone, without leader election and servers, until [`Context::stop`].
    ///
    /// # Errors
    ///
    /// If the component fails.
    pub async fn run(&self, ctx: Context) -> Result<(), Error> {
        (self.run)(ctx).await
    }
}

impl fmt::Debug for Runnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runnable").field("name", &self.name).field("runs", &self.runs).finish_non_exhaustive()
    }
}

/// The instances and replicas that a [`Runnable`] runs in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Runs {
    /// Once per namespace of `--watch-namespace`, or once for the whole cluster; only in the leader.
    PerNamespace,
    /// Once, for any `--watch-namespace`, such as the controller of a cluster-scoped kind; only in the leader.
    Once,
    /// Once in every replica, leader or not, such as a server.
    InEveryReplica,
}

/// The process of an operator.
///
/// A `main` only needs [`run`](Self::run). For additional arguments, flatten [`Options`] and [`LogOptions`] into a
/// [`clap::Parser`] and call [`start`](Self::start).
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create,roleName=metrics-auth-role
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create,roleName=metrics-auth-role
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=create,namespace=system,roleName=leader-election-role
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames={operator},verbs=get;update,namespace=system,\
//     roleName=leader-election-role
#[derive(Clone, Copy, Debug)]
pub struct Manager {
    operator: Operator,
}

/// The arguments of an operator without arguments of its own.
#[derive(clap::Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    logs: LogOptions,
}

/// The clients of a manager.
struct Clients<C> {
    client: Client,
    /// The term that limits the connections of `client`.
    term: Term,
    /// Creates the client for the Lease.
    for_lease: C,
}

impl Manager {
    /// Creates the manager of an operator.
    pub fn new(operator: Operator) -> Self {
        Self { operator }
    }

    /// Parses the arguments, initializes logging, connects to the cluster of the Pod or the kubeconfig, and runs
    /// `runnables` until SIGTERM, SIGINT, or until one of them fails. Errors are logged.
    pub async fn run(self, runnables: Vec<Runnable>) -> ExitCode {
        let command = Arguments::command().name(self.operator.name).version(self.operator.version);
        let arguments = Arguments::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit());
        // Dropped last, so that it covers everything else.
        let _telemetry = match telemetry::init(self.operator, &arguments.logs) {
            Ok(telemetry) => telemetry,
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        };
        let outcome = async {
            let metrics = Metrics::new(self.operator);
            let term = Term::default();
            let client = client::connect_within(&term, &metrics).await?;
            let counted = metrics.clone();
            let for_lease = async move || client::connect(&counted).await;
            let clients = Clients { client, term, for_lease };
            self.start_with(clients, metrics, arguments.options, runnables).await
        };
        match outcome.await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                tracing::error!("{}", with_causes(&error));
                // Does not wait for tasks that do not yield, since another replica may lead soon.
                std::process::exit(1)
            }
        }
    }

    /// Runs `runnables` until SIGTERM, SIGINT, or until one of them fails, which stops the others too.
    ///
    /// The Lease is renewed with this `client`, which depends on the threads of its runtime: if reconciles block all of
    /// them for `--renew-deadline`, the process exits. [`run`](Self::run) uses a separate client for the Lease.
    ///
    /// # Errors
    ///
    /// If the operator cannot start, or a runnable ends. If the Lease is lost while the thread of this future is
    /// blocked, the process exits with code 1, after half of the time between `--renew-deadline` and
    /// `--lease-duration`.
    pub async fn start(self, client: Client, options: Options, runnables: Vec<Runnable>) -> Result<(), Error> {
        let connected = client.clone();
        let for_lease = async move || Ok(connected);
        let clients = Clients { client, term: Term::default(), for_lease };
        self.start_with(clients, Metrics::new(self.operator), options, runnables).await
    }

    async fn start_with(
        self,
        clients: Clients<impl AsyncFnOnce() -> Result<Client, client::Error> + Send + 'static>,
        metrics: Metrics,
        options: Options,
        runnables: Vec<Runnable>,
    ) -> Result<(), Error> {
        let mut names = BTreeSet::new();
        if let Some(twice) = runnables.iter().find(|runnable| !names.insert(runnable.name)) {
            // Both would use the same field manager, and remove each other's fields.
            return Err(Error::Duplicate(twice.name));
        }
        options.leader_election.validate()?;
        let Clients { client, term, for_lease } = clients;
        let version = client.apiserver_version().await?;
        info!(kubernetes = version.git_version, version = self.operator.version, "starting {}", self.operator.name);

        #[cfg(feature = "shards")]
        let slots = Self::slots(&options, &term, &metrics);
        #[cfg(feature = "shards")]
        let elects = options.leader_election.leader_elect || slots.is_some();
        #[cfg(not(feature = "shards"))]
        let elects = options.leader_election.leader_elect;
        let client = if elects { term.guard(client) } else { client };
        let mut ctx = Context::new(client, self.operator, options);
        ctx.metrics = metrics;
        #[cfg(feature = "shards")]
        {
            ctx.slots = slots;
        }
        let elected = CancellationToken::new();
        if !elects {
            elected.cancel();
            ctx.metrics.leader.set(1);
        }
        // Before the probes are served, which report what they wait for.
        let mut parts = start(runnables, &ctx, &elected);
        // Separate from `parts`, so that probes are served until the last reconcile has finished.
        let _servers = endpoints::start(&ctx).await?;

        let mut leadership = elects.then(|| Leadership::start(&ctx, term, &elected, for_lease)).transpose()?;
        let outcome = tokio::select! {
            () = signal() => Ok(()),
            Some(ended) = parts.join_next() => Err(reason(ended)),
            // Another replica may lead soon, so all tasks are dropped at once.
            lost = lost(&mut leadership) => return Err(lost),
        };
        info!("shutting down");
        ctx.stop();
        let stopped = async {
            let ended = async { while parts.join_next().await.is_some() {} };
            let in_time = timeout(Duration::from_secs(ctx.options.grace_period), ended).await;
            parts.shutdown().await;
            in_time.map_err(|_| Error::GracePeriod(ctx.options.grace_period))
        };
        let stopped = tokio::select! {
            stopped = stopped => stopped,
            lost = lost(&mut leadership) => return Err(lost),
            () = signal() => return Err(Error::CutShort),
        };
        if let Some(leadership) = leadership {
            leadership.release().await;
        }
        outcome.and(stopped)
    }
}

/// Starts the runnables. Those of the leader wait for the election, and readiness does not wait for them until then.
fn start(runnables: Vec<Runnable>, ctx: &Context, elected: &CancellationToken) -> JoinSet<Result<&'static str, Error>> {
    let mut parts = JoinSet::new();
    for Runnable { name, runs, is_divisible, run } in runnables {
        for ctx in ctx.split(runs) {
            let (elected, run) = (ctx.may_run(is_divisible, elected), run.clone());
            let follows = runs != Runs::InEveryReplica && !elected.is_cancelled();
            if !follows {
                ctx.readiness.wait_for(name);
            }
            parts.spawn(async move {
                if follows {
                    tokio::select! {
                        () = elected.cancelled() => ctx.readiness.wait_for(name),
                        () = ctx.shutdown() => return Ok(name),
                    }
                }
                run(ctx).await.map(|()| name)
            });
        }
    }
    parts
}

async fn lost(leadership: &mut Option<Leadership>) -> Error {
    match leadership {
        Some(leadership) => leadership.lost().await,
        None => pending().await,
    }
}

fn reason(ended: Result<Result<&'static str, Error>, JoinError>) -> Error {
    match ended {
        Ok(Ok(name)) => Error::Ended(name),
        Ok(Err(error)) => error,
        Err(error) => Error::Task(error),
    }
}

/// Waits for SIGTERM, which the kubelet sends, or SIGINT, which Ctrl-C sends.
async fn signal() {
    #[cfg(unix)]
    let terminate = async {
        use tokio::signal::unix::{SignalKind, signal};
        let kind = SignalKind::terminate();
        signal(kind).expect("a handler can be set").recv().await;
    };
    #[cfg(not(unix))]
    let terminate = pending();
    tokio::select! {
        set = tokio::signal::ctrl_c() => set.expect("a handler can be set"),
        () = terminate => (),
    }
}

#[cfg(test)]
mod tests;
