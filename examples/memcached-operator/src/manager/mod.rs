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

//! Runs the controllers together, with what each of them needs around it: start and shutdown, probes,
//! metrics, logs, backoff, conditions.
//!
//! This is what controller-runtime's Manager does for Go. It is plain kube-rs, and yours to change.

pub mod backoff;
pub mod conditions;
mod context;
pub mod metrics;
#[cfg(test)]
pub mod mock;
mod server;
pub mod telemetry;

use std::net::SocketAddr;
use std::time::Duration;

use futures::future::BoxFuture;
use kube::Client;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tracing::info;

pub use context::{Context, apply_status, check, log_outcome};

/// The field manager of everything that this operator applies.
pub const FIELD_MANAGER: &str = env!("CARGO_PKG_NAME");

/// A part of the operator that runs until shutdown: a controller, or a task of your own.
pub struct Runnable {
    /// As the probes and the metrics show it. A controller is called `<plural>.<group>` after what it reconciles.
    pub name: &'static str,
    /// Ends after [`Context::shutdown`], or with the reason why it cannot go on.
    pub run: fn(Context) -> BoxFuture<'static, Result<(), Error>>,
}

#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Watch this namespace only; without it, the whole cluster
    #[arg(long, env = "WATCH_NAMESPACE", value_name = "NAMESPACE")]
    pub watch_namespace: Option<String>,
    /// Where `/healthz`, `/readyz` and `/metrics` are served
    #[arg(
        long,
        env = "HTTP_ADDRESS",
        value_name = "ADDRESS",
        default_value = "0.0.0.0:8080"
    )]
    pub http_address: SocketAddr,
    /// Seconds that running reconciles have to finish at shutdown; less than the Pod's `terminationGracePeriodSeconds`
    #[arg(
        long,
        env = "GRACE_PERIOD",
        value_name = "SECONDS",
        default_value_t = 20
    )]
    pub grace_period: u64,
}

/// Why the operator cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no cluster to talk to: set KUBECONFIG, or run in a Pod with a service account: {0}")]
    NoCluster(#[source] kube::Error),
    #[error("the API server does not answer: {0}")]
    Unreachable(#[source] kube::Error),
    #[error("the API server answers \"{0}\": check the credentials of KUBECONFIG, then the server")]
    Refused(String),
    #[error("the cluster does not know `{0}`: install the CRDs (`make install`), then start again")]
    NotInstalled(String),
    #[error("missing rights: {0}; see config/rbac/role.yaml")]
    Forbidden(String),
    #[error("cannot serve on {address}: {source}")]
    Bind {
        address: SocketAddr,
        source: std::io::Error,
    },
    #[error("`{0}` ended before shutdown")]
    Ended(&'static str),
    #[error("a task panicked or was aborted: {0}")]
    Task(#[from] tokio::task::JoinError),
    #[error("reconciles were still running {0} seconds after shutdown began")]
    GracePeriod(u64),
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

/// What went wrong with a request, in a sentence: kube's own text repeats the whole answer.
pub fn brief(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.to_string(),
        error => error.to_string(),
    }
}

/// The error and what caused it, in one line; a cause that a message already names is not repeated.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}

/// Runs everything until SIGTERM or SIGINT, or until one part fails, which stops the others too.
pub async fn run(client: Client, options: Options, runnables: Vec<Runnable>) -> Result<(), Error> {
    let version = client.apiserver_version().await?;
    info!(
        kubernetes = version.git_version,
        version = env!("CARGO_PKG_VERSION"),
        "starting"
    );

    let ctx = Context::new(client).watching(options.watch_namespace);
    let address = options.http_address;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|source| Error::Bind { address, source })?;
    // Not among the parts: the probes are answered until the last reconcile has ended.
    let server = tokio::spawn(server::serve(listener, ctx.clone()));

    let mut parts = JoinSet::new();
    for Runnable { name, run } in runnables {
        ctx.readiness.wait_for(name);
        let part = run(ctx.clone());
        parts.spawn(async move { part.await.map(|()| name) });
    }

    let outcome = tokio::select! {
        () = signal() => Ok(()),
        Some(ended) = parts.join_next() => Err(reason(ended)),
    };
    info!("shutting down");
    ctx.stop();
    let drained = async { while parts.join_next().await.is_some() {} };
    let grace = tokio::time::timeout(Duration::from_secs(options.grace_period), drained).await;
    server.abort();
    outcome.and(grace.map_err(|_| Error::GracePeriod(options.grace_period)))
}

fn reason(ended: Result<Result<&'static str, Error>, tokio::task::JoinError>) -> Error {
    match ended {
        Ok(Ok(name)) => Error::Ended(name),
        Ok(Err(error)) => error,
        Err(error) => Error::Task(error),
    }
}

/// Resolves at SIGTERM, as the kubelet sends it, or SIGINT, as Ctrl-C does.
async fn signal() {
    let interrupt = async {
        tokio::signal::ctrl_c()
            .await
            .expect("a signal handler can be set")
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).expect("a signal handler can be set");
        tokio::select! {
            () = interrupt => (),
            _ = terminate.recv() => (),
        }
    }
    #[cfg(not(unix))]
    interrupt.await;
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_part_that_ends_stops_the_others() {
        let version = json!({
            "major": "1", "minor": "37", "gitVersion": "v1.37.0", "gitCommit": "", "gitTreeState": "",
            "buildDate": "", "goVersion": "", "compiler": "", "platform": "",
        });
        let (client, _calls) = mock::api_server(move |_| (200, version.clone()));
        let options = Options {
            watch_namespace: None,
            http_address: ([127, 0, 0, 1], 0).into(),
            grace_period: 5,
        };
        let steady = Runnable {
            name: "steady",
            run: |ctx| Box::pin(ctx.shutdown().map(Ok)),
        };
        let brief = Runnable {
            name: "brief",
            run: |_| Box::pin(async { Ok(()) }),
        };
        let error = run(client, options, vec![steady, brief]).await.unwrap_err();
        assert_eq!(error.to_string(), "`brief` ended before shutdown");
    }
}
