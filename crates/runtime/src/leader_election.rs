//! Leader election: the replica that holds a Lease reconciles, the others wait.
//!
//! The protocol is that of client-go. Clocks differ between machines, so the times in a Lease are informational: a
//! replica takes over after it has seen the same record, by its own clock, for the duration in the record. The leader
//! gives up earlier if it cannot renew. Every write names the version that it replaces, so one of two concurrent writes
//! fails.

mod term;
mod thread;

use std::collections::BTreeMap;
use std::env;
use std::future::pending;
use std::slice;
use std::time::Duration;

use futures::future::join_all;
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

/// One replica's view of a Lease.
pub(crate) struct Election {
    pub api: Api<Lease>,
    pub name: String,
    /// Labels that this replica gives the Lease.
    pub labels: Option<BTreeMap<String, String>>,
    options: LeaseOptions,
    pub identity: String,
    term: Term,
    /// The Lease as last read or written; the default if there is none.
    seen: Lease,
    /// The time at which `seen` was first observed; for this replica's own record, the start of the request that wrote
    /// it.
    since: Moment,
}

impl Election {
    fn new(client: &Client, ctx: &Context, term: Term) -> Self {
        Self::of(client, ctx, identity(ctx), term)
    }

    /// The Lease of the operator, for a replica with this identity.
    pub fn of(client: &Client, ctx: &Context, identity: String, term: Term) -> Self {
        let options = ctx.options.leader_election.clone();
        let namespace = options.leader_election_namespace.as_deref();
        let namespace = namespace.unwrap_or(client.default_namespace());
        Self {
            api: Api::namespaced(client.clone(), namespace),
            name: options.leader_election_id.clone().unwrap_or_else(|| ctx.operator.name.to_owned()),
            labels: None,
            options,
            identity,
            term,
            seen: Lease::default(),
            since: Moment::now(),
        }
    }

    /// Waits until this replica leads. Fails only if the first request does; later failures are retried.
    async fn acquire(&mut self) -> Result<(), Error> {
        acquire(slice::from_mut(self)).await
    }

    /// Renews the Lease until it is lost.
    async fn hold(&mut self) -> Error {
        hold(slice::from_mut(self)).await
    }

    /// The end of the term, unless the Lease is renewed.
    fn deadline(&self) -> Moment {
        self.since + Duration::from_secs(self.options.renew_deadline.into())
    }

    pub fn leads(&self) -> bool {
        self.holder() == self.identity
    }

    fn holder(&self) -> &str {
        let spec = self.seen.spec.as_ref();
        spec.and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
    }

    pub fn pause(&self) -> Duration {
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

    pub async fn read(&mut self) -> Result<(), kube::Error> {
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
        let mut last_read = None;
        loop {
            let since = Moment::now();
            let exists = self.seen.resource_version().is_some();
            match self.write_once(&holder, duration).await {
                Ok(lease) => {
                    (self.seen, self.since) = (lease, since);
                    return Ok(());
                }
                // The Lease was written or deleted meanwhile, possibly by this replica, if a response was lost.
                Err(kube::Error::Api(status)) if status.code == 409 || status.code == 404 && exists => {
                    let read = Moment::now();
                    self.read().await?;
                    if !self.leads() {
                        return Ok(());
                    }
                    // Replicas that hold a Lease together must not starve each other: one of them has written after
                    // this one read the version before.
                    if let Some(last) = last_read.replace(read) {
                        self.since = last;
                        return Ok(());
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes the record, if `seen` is the last version.
    pub async fn write_once(&self, holder: &str, duration: u16) -> Result<Lease, kube::Error> {
        let mut lease = self.seen.clone();
        lease.metadata.name = Some(self.name.clone());
        if let Some(labels) = &self.labels {
            lease.labels_mut().extend(labels.clone());
        }
        self.in_time(put(&self.api, lease, holder, Some(duration))).await
    }

    /// Limits a request to half of the renew deadline, so that there is time for a second one.
    pub async fn in_time<T>(&self, request: impl Future<Output = Result<T, kube::Error>>) -> Result<T, kube::Error> {
        let limit = Duration::from_secs(self.options.renew_deadline.into()) / 2;
        let late = |_| Err(kube::Error::Service(format!("no answer in {} seconds", limit.as_secs()).into()));
        timeout(limit, request).await.unwrap_or_else(late)
    }
}

/// The claim of a replica to reconcile: leader election, or a share of the slots.
pub(crate) trait Claim {
    /// Cancels `elected` when this replica becomes the leader, and returns when it cannot reconcile any more.
    async fn lead(&mut self, ctx: &Context, elected: &CancellationToken) -> Error;

    /// Releases what this replica holds. No reconcile runs any more.
    async fn release(self);
}

impl Claim for Election {
    async fn lead(&mut self, ctx: &Context, elected: &CancellationToken) -> Error {
        let acquired = tokio::select! {
            acquired = self.acquire() => acquired,
            // A replica must not become the leader during its shutdown.
            () = ctx.shutdown() => pending().await,
        };
        if let Err(error) = acquired {
            return error;
        }
        info!("leading");
        ctx.metrics.leader.set(1);
        elected.cancel();
        self.hold().await
    }

    async fn release(mut self) {
        self.term.end();
        if self.leads()
            && let Err(error) = self.write(String::new(), 1).await
        {
            warn!("cannot release the Lease: {}", brief(&error));
        }
    }
}

/// The identity of this replica.
pub(crate) fn identity(ctx: &Context) -> String {
    let host = env::var("HOSTNAME").unwrap_or_else(|_| ctx.operator.name.to_owned());
    // Random, since a restarted container has the host name of the previous one, but does not lead.
    format!("{host}_{:016x}", random())
}

/// Writes this holder into a Lease, if it still has the version of `lease`; creates it if that has none.
pub(crate) async fn put(
    api: &Api<Lease>,
    mut lease: Lease,
    holder: &str,
    duration: Option<u16>,
) -> Result<Lease, kube::Error> {
    let (name, exists) = (lease.name_any(), lease.resource_version().is_some());
    let now = Some(MicroTime(Timestamp::now()));
    let spec = lease.spec.get_or_insert_default();
    if spec.holder_identity.as_deref() != Some(holder) {
        spec.acquire_time.clone_from(&now);
        let count = i32::from(!holder.is_empty());
        spec.lease_transitions = Some(spec.lease_transitions.map_or(0, |n| n + count));
    }
    spec.holder_identity = Some(holder.to_owned());
    spec.lease_duration_seconds = duration.map(i32::from);
    spec.renew_time = now;
    let params = PostParams::default();
    match exists {
        true => api.replace(&name, &params, &lease).await,
        false => api.create(&params, &lease).await,
    }
}

/// Waits until this replica holds all of these Leases; it acquires and renews them in this order. Fails only if the
/// first request for one of them does; later failures are retried.
pub(crate) async fn acquire(leases: &mut [Election]) -> Result<(), Error> {
    let last = leases.last().expect("a replica holds a Lease");
    info!(identity = last.identity, "waiting for the Lease");
    loop {
        for lease in &mut *leases {
            match lease.claim().await {
                Err(error) if lease.seen == Lease::default() => return Err(error.into()),
                Err(error) => {
                    warn!("cannot read the Lease: {}", brief(&error));
                    break;
                }
                Ok(()) if lease.leads() => {}
                Ok(()) => break,
            }
        }
        if leases.iter().all(Election::leads) {
            break;
        }
        sleep(leases[0].pause()).await;
    }
    extend(leases);
    Ok(())
}

/// Renews these Leases until one of them is lost.
pub(crate) async fn hold(leases: &mut [Election]) -> Error {
    while leases.iter().all(Election::leads) {
        let deadline = extend(leases);
        let pause = leases[0].pause();
        let renewal = async {
            sleep(pause).await;
            for error in join_all(leases.iter_mut().map(Election::claim)).await.into_iter().filter_map(Result::err) {
                warn!("cannot renew the Lease: {}", brief(&error));
            }
        };
        match timeout_at(deadline.awake, renewal).await {
            Ok(()) => {}
            Err(_) => {
                let seconds = leases[0].options.renew_deadline;
                return Error::LeadershipLost(format!("no renewal in {seconds} seconds"));
            }
        }
    }
    leases[0].term.end();
    let lost = leases.iter().find(|lease| !lease.leads()).map(Election::holder).unwrap_or_default();
    Error::LeadershipLost(match lost {
        "" => "another replica has released or deleted the Lease".to_owned(),
        holder => format!("the Lease is held by `{holder}`"),
    })
}

/// Extends the term to the earliest deadline of these Leases, and returns it.
fn extend(leases: &[Election]) -> Moment {
    let deadlines = leases.iter().map(Election::deadline);
    let earliest = deadlines.min_by_key(|deadline| deadline.awake).expect("a replica holds a Lease");
    leases[0].term.extend(earliest);
    earliest
}

#[cfg(test)]
mod tests;
