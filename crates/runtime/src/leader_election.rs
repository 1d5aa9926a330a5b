//! Leader election: the replica that holds a Lease reconciles, the others wait.
//!
//! The protocol is that of client-go. Clocks differ between machines, so the times in a Lease are informational: a
//! replica takes over after it has seen the same record, by its own clock, for the duration in the record. The leader
//! gives up earlier if it cannot renew. Every write names the version that it replaces, so one of two concurrent writes
//! fails.

mod term;
mod thread;

use std::env;
use std::future::pending;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, PostParams};
use kube::{Client, ResourceExt};
use tokio::time::{sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::controller::jittered;
use crate::manager::Error;
use crate::telemetry::random;
use crate::{Context, brief};

use term::Moment;

pub(crate) use term::Term;
pub(crate) use thread::Leadership;

/// The arguments for leader election.
#[derive(Clone, Debug, clap::Args)]
pub struct LeaseOptions {
    /// Reconcile only while holding a Lease; needed to run several replicas
    #[arg(long, env)]
    pub leader_elect: bool,
    /// Name of the Lease; by default that of the operator
    #[arg(long, env, value_name = "NAME")]
    pub leader_election_id: Option<String>,
    /// Namespace of the Lease; by default that of the Pod or the kubeconfig
    #[arg(long, env, value_name = "NAMESPACE")]
    pub leader_election_namespace: Option<String>,
    /// Seconds without a renewal after which another replica takes over
    #[arg(long, env, value_name = "SECONDS", default_value_t = 15)]
    pub lease_duration: u16,
    /// Seconds without a renewal after which the leader exits
    #[arg(long, env, value_name = "SECONDS", default_value_t = 10)]
    pub renew_deadline: u16,
    /// Seconds between attempts to acquire or renew the Lease
    #[arg(long, env, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub retry_period: u16,
}

impl LeaseOptions {
    /// Checks the durations against each other.
    ///
    /// # Errors
    ///
    /// If there is no time for a second try of a renewal, or for the leader to exit before another replica leads.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        let deadline = self.renew_deadline;
        match deadline < self.lease_duration && deadline / 2 >= self.retry_period {
            true => Ok(()),
            false => Err(Error::LeaseOptions),
        }
    }

    /// The time for the operator to exit after it lost the Lease: half of the time for which the Lease lasts beyond the
    /// renew deadline.
    fn reaction(&self) -> Duration {
        Duration::from_secs((self.lease_duration - self.renew_deadline).into()) / 2
    }
}

/// One replica's view of the Lease.
struct Election {
    api: Api<Lease>,
    name: String,
    options: LeaseOptions,
    identity: String,
    term: Term,
    /// The Lease as last read or written; the default if there is none.
    seen: Lease,
    /// The time at which `seen` was first observed; for this replica's own record, the start of the request that wrote
    /// it.
    since: Moment,
}

impl Election {
    fn new(client: &Client, ctx: &Context, term: Term) -> Self {
        let options = ctx.options.leader_election.clone();
        let namespace = options.leader_election_namespace.as_deref();
        let namespace = namespace.unwrap_or(client.default_namespace());
        let host = env::var("HOSTNAME").unwrap_or_else(|_| ctx.operator.name.to_owned());
        Self {
            api: Api::namespaced(client.clone(), namespace),
            name: options.leader_election_id.clone().unwrap_or_else(|| ctx.operator.name.to_owned()),
            options,
            // Random, since a restarted container has the host name of the previous one, but does not lead.
            identity: format!("{host}_{:016x}", random()),
            term,
            seen: Lease::default(),
            since: Moment::now(),
        }
    }

    /// Cancels `elected` when this replica becomes the leader, and returns when it cannot lead any more.
    async fn lead(&mut self, ctx: &Context, elected: &CancellationToken) -> Error {
        let acquired = tokio::select! {
            acquired = self.acquire() => acquired,
            // A replica must not become the leader during its shutdown.
            () = ctx.shutdown() => pending().await,
        };
        if let Err(error) = acquired {
            return error;
        }
        ctx.metrics.leader.set(1);
        elected.cancel();
        self.hold().await
    }

    /// Waits until this replica leads. Fails only if the first request does; later failures are retried.
    async fn acquire(&mut self) -> Result<(), Error> {
        info!(identity = self.identity, "waiting for the Lease");
        loop {
            match self.claim().await {
                Ok(()) if self.leads() => break,
                Err(error) if self.seen == Lease::default() => return Err(error.into()),
                Err(error) => warn!("cannot read the Lease: {}", brief(&error)),
                Ok(()) => {}
            }
            sleep(self.pause()).await;
        }
        self.term.extend(self.deadline());
        info!("leading");
        Ok(())
    }

    /// Renews the Lease until it is lost.
    async fn hold(&mut self) -> Error {
        while self.leads() {
            let deadline = self.deadline();
            self.term.extend(deadline);
            let renewal = async {
                sleep(self.pause()).await;
                self.claim().await
            };
            match timeout_at(deadline.awake, renewal).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => warn!("cannot renew the Lease: {}", brief(&error)),
                Err(_) => {
                    let seconds = self.options.renew_deadline;
                    return Error::LeadershipLost(format!("no renewal in {seconds} seconds"));
                }
            }
        }
        self.term.end();
        Error::LeadershipLost(format!("the Lease is held by `{}`", self.holder()))
    }

    /// Releases the Lease, so that another replica can lead at once.
    async fn release(mut self) {
        self.term.end();
        if self.leads()
            && let Err(error) = self.write(String::new(), 1).await
        {
            warn!("cannot release the Lease: {}", brief(&error));
        }
    }

    /// The end of the term, unless the Lease is renewed.
    fn deadline(&self) -> Moment {
        self.since + Duration::from_secs(self.options.renew_deadline.into())
    }

    fn leads(&self) -> bool {
        self.holder() == self.identity
    }

    fn holder(&self) -> &str {
        let spec = self.seen.spec.as_ref();
        spec.and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
    }

    fn pause(&self) -> Duration {
        jittered(Duration::from_secs(self.options.retry_period.into()))
    }

    /// Renews the Lease, or acquires it if it is free. A renewal needs one request.
    async fn claim(&mut self) -> Result<(), kube::Error> {
        if !self.leads() {
            self.read().await?;
            let spec = self.seen.spec.as_ref();
            let seconds = spec.and_then(|spec| u64::try_from(spec.lease_duration_seconds?).ok());
            let duration = Duration::from_secs(seconds.unwrap_or(self.options.lease_duration.into()));
            if !self.holder().is_empty() && !self.leads() && self.since.awake.elapsed() < duration {
                return Ok(());
            }
        }
        self.write(self.identity.clone(), self.options.lease_duration).await
    }

    async fn read(&mut self) -> Result<(), kube::Error> {
        let get = self.api.get_opt(&self.name);
        let now = self.in_time(get).await?.unwrap_or_default();
        let changed = now.spec != self.seen.spec;
        self.seen = now;
        // Other replicas may have observed this replica's own record earlier, if the response to the write was lost.
        if changed && !self.leads() {
            self.since = Moment::now();
        }
        Ok(())
    }

    /// Writes the record, unless another replica wrote first.
    async fn write(&mut self, holder: String, duration: u16) -> Result<(), kube::Error> {
        loop {
            let (since, now) = (Moment::now(), Some(MicroTime(Timestamp::now())));
            let mut lease = self.seen.clone();
            let name = &self.name;
            lease.metadata.name = Some(name.clone());
            let spec = lease.spec.get_or_insert_default();
            if spec.holder_identity.as_ref() != Some(&holder) {
                spec.acquire_time.clone_from(&now);
                let count = i32::from(!holder.is_empty());
                spec.lease_transitions = Some(spec.lease_transitions.map_or(0, |n| n + count));
            }
            spec.holder_identity = Some(holder.clone());
            spec.lease_duration_seconds = Some(duration.into());
            spec.renew_time = now;
            let params = PostParams::default();
            let exists = lease.resource_version().is_some();
            let written = match exists {
                true => self.in_time(self.api.replace(name, &params, &lease)).await,
                false => self.in_time(self.api.create(&params, &lease)).await,
            };
            match written {
                Ok(lease) => {
                    (self.seen, self.since) = (lease, since);
                    return Ok(());
                }
                // The Lease was written or deleted meanwhile, possibly by this replica, if a response was lost.
                Err(kube::Error::Api(status)) if status.code == 409 || status.code == 404 && exists => {
                    self.read().await?;
                    if !self.leads() {
                        return Ok(());
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Limits a request to half of the renew deadline, so that there is time for a second one.
    async fn in_time<T>(&self, request: impl Future<Output = Result<T, kube::Error>>) -> Result<T, kube::Error> {
        let limit = Duration::from_secs(self.options.renew_deadline.into()) / 2;
        let late = |_| Err(kube::Error::Service(format!("no answer in {} seconds", limit.as_secs()).into()));
        timeout(limit, request).await.unwrap_or_else(late)
    }
}

#[cfg(test)]
mod tests;
