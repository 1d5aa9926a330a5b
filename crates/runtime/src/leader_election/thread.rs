//! The thread that acquires and renews the Lease.
//!
//! It shares neither threads nor connections with the reconciles: one that blocks its thread delays no renewal, and
//! cannot outlive the Lease.

use std::{process, thread};

use kube::Client;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::error;

use super::{Claim, Election, Term};
use crate::manager::Error;
use crate::{Context, client};

/// A handle of the thread. Dropping it stops the renewal of the Lease without releasing it.
pub struct Leadership {
    release: oneshot::Sender<()>,
    lost: oneshot::Receiver<Error>,
}

impl Leadership {
    /// Starts the thread, which cancels `elected` when this replica becomes the leader. `connect` creates its client.
    ///
    /// # Errors
    ///
    /// If the thread or its runtime cannot be started.
    pub fn start(
        ctx: &Context,
        term: Term,
        elected: &CancellationToken,
        connect: impl AsyncFnOnce() -> Result<Client, client::Error> + Send + 'static,
    ) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (release, released) = oneshot::channel();
        let (report, lost) = oneshot::channel();
        let (ctx, elected) = (ctx.clone(), elected.clone());
        let run = move || runtime.block_on(lead(connect, ctx, term, elected, report, released));
        thread::Builder::new().name("lease".to_owned()).spawn(run)?;
        Ok(Self { release, lost })
    }

    /// Waits until this replica cannot lead any more. Another one may lead soon, so all reconciles must stop.
    pub async fn lost(&mut self) -> Error {
        let lost = (&mut self.lost).await;
        lost.unwrap_or_else(|_| Error::LeadershipLost("the thread of the Lease has panicked".to_owned()))
    }

    /// Releases the Lease, so that another replica can lead at once. Call this when no reconcile runs any more.
    pub async fn release(self) {
        // The thread drops its end of the channel after it has released the Lease, or has lost it before.
        let _ = self.release.send(());
        let _ = self.lost.await;
    }
}

async fn lead(
    connect: impl AsyncFnOnce() -> Result<Client, client::Error>,
    ctx: Context,
    term: Term,
    elected: CancellationToken,
    report: oneshot::Sender<Error>,
    released: oneshot::Receiver<()>,
) {
    let client = match connect().await {
        Ok(client) => client,
        // The receiver is gone if the operator has already exited.
        Err(error) => {
            let _ = report.send(error.into());
            return;
        }
    };
    #[cfg(feature = "shards")]
    if let Some(slots) = &ctx.slots {
        let membership = crate::shards::Membership::new(&client, &ctx, slots.clone(), term);
        return hold(membership, ctx, elected, report, released).await;
    }
    let election = Election::new(&client, &ctx, term);
    hold(election, ctx, elected, report, released).await;
}

async fn hold(
    mut claim: impl Claim,
    ctx: Context,
    elected: CancellationToken,
    report: oneshot::Sender<Error>,
    mut released: oneshot::Receiver<()>,
) {
    let lost = tokio::select! {
        lost = claim.lead(&ctx, &elected) => lost,
        released = &mut released => {
            if released.is_ok() {
                claim.release().await;
            }
            return;
        }
    };
    let reason = lost.to_string();
    let _ = report.send(lost);
    // The operator drops its end of the channel when it gets the error, unless its threads are blocked.
    if timeout(ctx.options.leader_election.reaction(), released).await.is_err() {
        error!("{reason}");
        process::exit(1);
    }
}
