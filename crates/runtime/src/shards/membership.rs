//! The Leases of a replica that reconciles some of the slots.
//!
//! - **The operator's Lease**, which also leader election uses, is held by the group of all replicas with the same number
//!   and kind of slots and the same `--lease-duration` together: each renews it. So no replica with other settings, and
//!   no single leader, reconciles meanwhile.
//! - **A Lease for each replica** shows that it is alive. It is deleted when the replica has ended, or by another
//!   replica that has not seen a renewal for its duration.
//! - **A Lease for each slot** names its holder. It is written only when the slot changes hands. A slot whose holder has
//!   no Lease of its own is free.
//!
//! A replica whose own Lease is deleted reconciles no more: its term, which ends earlier, is that of both Leases that it
//! renews. So a slot has one owner at a time, with the guarantees of leader election, and the number of renewals depends
//! on the replicas, not on slots or objects.

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{DeleteParams, ListParams, Preconditions};
use kube::{Client, ResourceExt};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::balance::{Changes, View};
use super::slot::{ShardBy, Slot};
use super::slots::Slots;
use crate::leader_election::{Claim, Election, Term, acquire, hold, identity, put};
use crate::manager::Error;
use crate::telemetry::random;
use crate::{Context, brief};

/// The operator whose replicas, or slots, a Lease is for.
const OPERATOR: &str = "opctl-runtime/operator";
/// The group of the replica or slot.
const GROUP: &str = "opctl-runtime/group";
/// The slot that a Lease is for.
const SLOT: &str = "opctl-runtime/slot";

/// Number of slots that a replica claims at the same time.
const PARALLEL: usize = 8;

/// The claim of a replica to its share of the slots.
pub(crate) struct Membership {
    /// That of this replica and that of the operator, in the order in which they are acquired: a replica that leaves
    /// releases the operator's Lease unless it sees another replica.
    leases: [Election; 2],
    term: Term,
    ring: Ring,
}

/// The slots, as this replica sees them.
struct Ring {
    slots: Arc<Slots>,
    /// The Lease of this replica; its copy is used for the API and the times only.
    own: Election,
    /// Name of the operator's Lease.
    name: String,
    /// The holder of that Lease: what all replicas that share the objects must have in common.
    group: String,
    /// The other replicas, by the names of their Leases: the last version, and the time since which it is the last.
    seen: BTreeMap<String, (String, Instant)>,
    /// Slots that are given away when they are idle.
    draining: BTreeSet<Slot>,
}

impl Membership {
    pub fn new(client: &Client, ctx: &Context, slots: Arc<Slots>, term: Term) -> Self {
        let by = match slots.by {
            ShardBy::Object => "object",
            ShardBy::Namespace => "namespace",
        };
        let duration = ctx.options.leader_election.lease_duration;
        let shared = format!("{}-slots-by-{by}-for-{duration}s", slots.count.get());
        let group = Election::of(client, ctx, shared.clone(), term.clone());
        let own = || {
            let mut own = Election::of(client, ctx, identity(ctx), term.clone());
            own.labels = Some(labels(&group.name, &shared));
            own
        };
        let (mut replica, mut copy) = (own(), own());
        replica.name = format!("{}-replica-{:016x}", group.name, random());
        copy.name.clone_from(&replica.name);
        copy.identity.clone_from(&replica.identity);
        let (name, seen, draining) = (group.name.clone(), BTreeMap::new(), BTreeSet::new());
        let ring = Ring { slots, own: copy, name, group: shared, seen, draining };
        Self { leases: [replica, group], term, ring }
    }
}

impl Claim for Membership {
    async fn lead(&mut self, ctx: &Context, elected: &CancellationToken) -> Error {
        let acquired = tokio::select! {
            acquired = acquire(&mut self.leases) => acquired,
            // A replica must not take slots during its shutdown.
            () = ctx.shutdown() => pending().await,
        };
        if let Err(error) = acquired {
            return error;
        }
        self.ring.slots.joined.cancel();
        tokio::select! {
            lost = hold(&mut self.leases) => lost,
            () = self.ring.balance(ctx, elected) => unreachable!("it never ends"),
        }
    }

    async fn release(self) {
        let Self { leases: [_, mut group], term, ring } = self;
        term.end();
        if let Err(error) = ring.leave(&mut group).await {
            warn!("cannot release the Leases: {}", brief(&error));
        }
    }
}

impl Ring {
    /// Claims and gives away slots until the operator shuts down; never returns.
    async fn balance(&mut self, ctx: &Context, elected: &CancellationToken) {
        let mut shutdown = pin!(ctx.shutdown());
        loop {
            let step = async {
                match self.step().await {
                    Err(error) => warn!("cannot balance the slots: {}", brief(&error)),
                    Ok(()) if self.slots.owned().slots.contains_key(&0) => {
                        ctx.metrics.leader.set(1);
                        elected.cancel();
                    }
                    Ok(()) => {}
                }
                let pause = sleep(self.own.pause());
                match self.draining.is_empty() {
                    true => pause.await,
                    false => tokio::select! {
                        () = pause => {}
                        () = self.slots.idle() => {}
                    },
                }
            };
            tokio::select! {
                () = step => {}
                // The slots become free when this replica's Lease is deleted, after the last reconcile.
                () = &mut shutdown => pending().await,
            }
        }
    }

    /// Compares all Leases, and changes those of this replica's slots.
    async fn step(&mut self) -> Result<(), kube::Error> {
        let leases = self.list().await?;
        let (mut slots, mut replicas) = (BTreeMap::new(), BTreeMap::new());
        for lease in leases {
            match lease.labels().get(SLOT).map(|slot| slot.parse::<Slot>()) {
                Some(Ok(slot)) => drop(slots.insert(slot, lease)),
                Some(Err(_)) => {}
                None => drop(replicas.insert(lease.name_any(), lease)),
            }
        }
        if !replicas.contains_key(&self.own.name) {
            // The renewal finds that, too, and ends this replica.
            return Ok(());
        }
        self.remove_expired(&replicas).await;

        let members: Vec<String> =
            replicas.values().filter(|it| self.is_of_group(it)).map(|it| holder(it).to_owned()).collect();
        let of =
            |slot: &Slot| slots.get(slot).map(holder).filter(|holder| members.iter().any(|member| member == holder));
        let holders = self.slots.count.all().map(|slot| (slot, of(&slot).map(str::to_owned))).collect();
        let view = View { holders, members };
        self.adopt(&view);
        let Changes { claim, give } = view.changes(&self.own.identity);
        self.drain(give.into_iter().collect());
        self.release_idle(&slots).await;
        self.claim(claim, slots).await;
        Ok(())
    }

    async fn list(&self) -> Result<Vec<Lease>, kube::Error> {
        let params = ListParams::default().labels(&format!("{OPERATOR}={}", self.name));
        Ok(self.own.in_time(self.own.api.list(&params)).await?.items)
    }

    fn is_of_group(&self, lease: &Lease) -> bool {
        lease.labels().get(GROUP) == Some(&self.group)
    }

    /// Deletes the Leases of replicas that have not renewed them for their duration, by the clock of this one. If the
    /// replica renews it meanwhile, the version is another, and it stays.
    async fn remove_expired(&mut self, replicas: &BTreeMap<String, Lease>) {
        self.seen.retain(|name, _| replicas.contains_key(name));
        for (name, lease) in replicas {
            let version = lease.resource_version().unwrap_or_default();
            let seen = self.seen.entry(name.clone()).or_insert_with(|| (version.clone(), Instant::now()));
            if seen.0 != version {
                *seen = (version.clone(), Instant::now());
            }
            let seconds = lease.spec.as_ref().and_then(|spec| spec.lease_duration_seconds).unwrap_or_default();
            let duration = Duration::from_secs(seconds.try_into().unwrap_or_default());
            if *name == self.own.name || seen.1.elapsed() < duration {
                continue;
            }
            let preconditions = Preconditions { uid: lease.uid(), resource_version: Some(version) };
            let params = DeleteParams::default().preconditions(preconditions);
            match self.own.in_time(self.own.api.delete(name, &params)).await {
                Ok(_) => info!("replica {} is gone: its Lease has expired", holder(lease)),
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
                Err(error) => warn!("cannot delete the expired Lease {name}: {}", brief(&error)),
            }
        }
    }

    /// Takes over what the Leases say about the slots of this replica: the response to a write may have been lost, or
    /// somebody may have changed a Lease.
    fn adopt(&mut self, view: &View) {
        let is_mine = |slot: &Slot| view.holders[slot].as_deref() == Some(&self.own.identity);
        let owned = self.slots.owned().slots;
        let lost: Vec<Slot> = owned.keys().copied().filter(|slot| !is_mine(slot)).collect();
        if !lost.is_empty() {
            warn!("slots {lost:?} are no longer this replica's: their Leases were changed by someone else");
            self.slots.drain(&lost);
        }
        self.draining.retain(|slot| is_mine(slot));
        let mine = view.holders.keys().copied().filter(|slot| is_mine(slot) && !owned.contains_key(slot));
        self.gain(&Vec::from_iter(mine.filter(|slot| !self.draining.contains(slot))));
    }

    fn gain(&self, slots: &[Slot]) {
        if !slots.is_empty() {
            self.slots.gain(slots);
            info!("{} slots: {} new", self.slots.owned().slots.len(), slots.len());
        }
    }

    /// Drains these slots and no others.
    fn drain(&mut self, give: BTreeSet<Slot>) {
        let kept: Vec<Slot> = self.draining.difference(&give).copied().collect();
        let new: Vec<Slot> = give.difference(&self.draining).copied().collect();
        self.gain(&kept);
        if !new.is_empty() {
            self.slots.drain(&new);
            info!("{} slots: {} go to other replicas", self.slots.owned().slots.len(), new.len());
        }
        self.draining = give;
    }

    /// Releases the drained slots without a running reconcile.
    async fn release_idle(&mut self, leases: &BTreeMap<Slot, Lease>) {
        let idle: Vec<Slot> = self.draining.iter().copied().filter(|slot| self.slots.is_idle(*slot)).collect();
        let released = self.write_all(idle, leases, "").await;
        self.draining.retain(|slot| !released.contains(slot));
    }

    async fn claim(&self, free: Vec<Slot>, leases: BTreeMap<Slot, Lease>) {
        let claimed = self.write_all(free, &leases, &self.own.identity).await;
        self.gain(&claimed);
    }

    /// Writes this holder into the Leases of slots. Returns the slots whose Leases nobody else has written meanwhile.
    async fn write_all(&self, slots: Vec<Slot>, leases: &BTreeMap<Slot, Lease>, holder: &str) -> Vec<Slot> {
        let write = async |slot: Slot| {
            let mut lease = leases.get(&slot).cloned().unwrap_or_default();
            lease.metadata.name = Some(format!("{}-slot-{slot}", self.name));
            lease.labels_mut().extend(labels(&self.name, &self.group));
            lease.labels_mut().insert(SLOT.to_owned(), slot.to_string());
            match self.own.in_time(put(&self.own.api, lease, holder, None)).await {
                Ok(_) => Some(slot),
                // Another replica was faster.
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => None,
                Err(error) => {
                    warn!("cannot write the Lease of slot {slot}: {}", brief(&error));
                    None
                }
            }
        };
        let written = stream::iter(slots).map(write).buffer_unordered(PARALLEL);
        let mut written: Vec<Slot> = written.filter_map(std::future::ready).collect().await;
        written.sort_unstable();
        written
    }

    /// Deletes this replica's Lease, which frees its slots, and releases that of the operator if it is the last replica.
    async fn leave(self, group: &mut Election) -> Result<(), kube::Error> {
        match self.own.in_time(self.own.api.delete(&self.own.name, &DeleteParams::default())).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            deleted => drop(deleted?),
        }
        // In this order: a replica that starts creates its own Lease before it writes that of the operator. So either
        // the list has it, or the version that is read here is not the last one any more.
        group.read().await?;
        let is_replica = |lease: &Lease| self.is_of_group(lease) && !lease.labels().contains_key(SLOT);
        let is_last = !self.list().await?.iter().any(is_replica);
        if is_last && group.leads() {
            match group.write_once("", 1).await {
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                written => drop(written?),
            }
        }
        Ok(())
    }
}

fn labels(operator: &str, group: &str) -> BTreeMap<String, String> {
    [(OPERATOR, operator), (GROUP, group)].map(|(label, value)| (label.to_owned(), value.to_owned())).into()
}

fn holder(lease: &Lease) -> &str {
    lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
}
