//! Errors that keep the operator from starting, or stop it.

use crate::client;

/// An error that keeps the operator from starting, or stops it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No cluster is configured, or its configuration is invalid.
    #[error(transparent)]
    Client(#[from] client::Error),
    /// The API server cannot be reached, or does not respond.
    #[error("the API server does not answer: {}", client::describe(.0))]
    Unreachable(#[source] kube::Error),
    /// The API server responds with an error.
    #[error("the API server answers \"{0}\": check the credentials of KUBECONFIG, then the server")]
    Refused(String),
    /// A CustomResourceDefinition is missing.
    #[error("the cluster does not know `{0}`: install the CRDs (`make install`), then start again")]
    NotInstalled(String),
    /// A permission is missing.
    #[error("missing permissions: {0}; see config/rbac/role.yaml")]
    Forbidden(String),
    /// A server cannot listen or has no certificate, or the thread of the Lease cannot be started.
    #[error(transparent)]
    Server(#[from] std::io::Error),
    /// The durations of leader election contradict each other.
    #[error(
        "`--lease-duration` must be longer than `--renew-deadline`, and that at least twice as long as `--retry-period`"
    )]
    LeaseOptions,
    /// Another replica leads, or may lead soon.
    #[error("this replica is no longer the leader: {0}")]
    LeadershipLost(String),
    /// The replicas share objects by namespace, and this kind is cluster-scoped.
    #[cfg(feature = "shards")]
    #[error("`{0}` is cluster-scoped, so `--shard-by namespace` cannot share its objects: use `--shard-by object`")]
    ShardByNamespace(String),
    /// Two runnables have the same name.
    #[error("two parts are named `{0}`: give one of them another name, with `Controller::named` or `Runnable::new`")]
    Duplicate(&'static str),
    /// A runnable returned before shutdown.
    #[error("`{0}` ended before shutdown")]
    Ended(&'static str),
    /// A runnable panicked.
    #[error("a task panicked or was aborted: {0}")]
    Task(#[from] tokio::task::JoinError),
    /// Reconciles did not finish within the grace period, in seconds.
    #[error("reconciles were still running {0} seconds after shutdown began")]
    GracePeriod(u64),
    /// A second SIGTERM or SIGINT arrived during the shutdown.
    #[error("a second signal cut the shutdown short")]
    CutShort,
    /// A custom error.
    #[error("{0}")]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl From<kube::Error> for Error {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) if status.is_forbidden() => Self::Forbidden(status.message),
            kube::Error::Api(status) => Self::Refused(status.message),
            error => Self::Unreachable(error),
        }
    }
}
