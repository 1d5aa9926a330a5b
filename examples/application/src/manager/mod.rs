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

//! Runs controllers and servers together, and stops them together, with what each of them needs around it: leader election,
//! probes, backoff, conditions.
//!
//! This is what controller-runtime's Manager does for Go. It is plain kube-rs, and yours to change.

mod backoff;
pub mod conditions;
mod context;
mod controller;
mod endpoints;
mod error;
mod options;

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use futures::future::BoxFuture;
use kube::Client;
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::leader_election::Election;

pub use backoff::jittered;
pub use context::{Context, apply, apply_status, apply_status_as};
pub use controller::{Failure, check, controller, drive, with_finalizer};
pub use error::{Error, brief, with_causes};
pub use options::{Options, address};

/// The field manager of everything that this operator applies.
pub const FIELD_MANAGER: &str = env!("CARGO_PKG_NAME");

/// A part of the operator that runs until shutdown: a controller, a server, or a task of your own.
pub struct Runnable {
    /// As probes, metrics and logs show it.
    pub name: &'static str,
    pub runs: Runs,
    /// Ends after [`Context::shutdown`], or with the reason why it cannot go on.
    pub run: fn(Context) -> BoxFuture<'static, Result<(), Error>>,
}

/// Where a [`Runnable`] runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Runs {
    /// Once for each namespace of `--watch-namespace`, or once for the whole cluster.
    PerNamespace,
    /// Once, whatever is watched: the controller of a cluster-scoped kind.
    Once,
    /// In replicas that do not lead, too: a server.
    InEveryReplica,
}

/// Runs everything until SIGTERM or SIGINT, or until one part fails, which stops the others too.
pub async fn run(client: Client, options: Options, runnables: Vec<Runnable>) -> Result<(), Error> {
    let version = client.apiserver_version().await?;
    info!(
        kubernetes = version.git_version,
        version = env!("CARGO_PKG_VERSION"),
        "starting"
    );

    let ctx = Context::new(client, options);
    let mut election = Election::new(&ctx.client, ctx.options.leader_election.clone())?;
    let elected = CancellationToken::new();
    if !ctx.options.leader_election.leader_elect {
        elected.cancel();
    }
    // Before the probes are answered, which say what is waited for.
    let mut parts = start(runnables, &ctx, &elected);
    // Not among the parts: the probes are answered until the last reconcile has ended.
    let _servers = endpoints::start(&ctx).await?;

    let mut leadership = Box::pin(async {
        tokio::select! {
            won = election.acquire() => won?,
            // Who shuts down does not begin to lead.
            () = ctx.shutdown() => pending().await,
        }
        ctx.metrics.leader.set(1);
        elected.cancel();
        Err::<Infallible, Error>(election.hold().await)
    });
    let outcome = tokio::select! {
        () = signal() => Ok(()),
        Some(ended) = parts.join_next() => Err(reason(ended)),
        // Another replica may lead soon: all tasks end as they are dropped.
        Err(lost) = &mut leadership => return Err(lost),
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
        Err(lost) = &mut leadership => return Err(lost),
        () = signal() => return Err(Error::CutShort),
    };
    drop(leadership);
    election.release().await;
    outcome.and(stopped)
}

/// Starts the parts; those of the leader wait for the election, and meanwhile nobody waits for them.
fn start(
    runnables: Vec<Runnable>,
    ctx: &Context,
    elected: &CancellationToken,
) -> JoinSet<Result<&'static str, Error>> {
    let mut parts = JoinSet::new();
    for Runnable { name, runs, run } in runnables {
        for ctx in ctx.split(runs) {
            let elected = elected.clone();
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

fn reason(ended: Result<Result<&'static str, Error>, JoinError>) -> Error {
    match ended {
        Ok(Ok(name)) => Error::Ended(name),
        Ok(Err(error)) => error,
        Err(error) => Error::Task(error),
    }
}

/// Resolves at SIGTERM, as the kubelet sends it, or SIGINT, as Ctrl-C does.
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
