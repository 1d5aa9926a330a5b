//! Several active replicas: each reconciles the objects of some slots.
//!
//! A slot is a range of the hash of an object's uid. Each has one owner at a time, with the guarantees of leader
//! election: see `membership`. Controllers receive the objects of their replica's slots only, and reconcile an object
//! only while its slot is owned: see `Slots::enter`.

mod balance;
mod children;
mod membership;
mod share;
mod slot;
mod slots;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::leader_election::Term;
use crate::telemetry::metrics::Metrics;
use crate::{Manager, Options};

pub(crate) use membership::Membership;
pub(crate) use share::Share;
pub use slot::{ShardBy, SlotCount};
pub(crate) use slots::{Running, Slots};

/// The arguments for several active replicas.
#[derive(Clone, Debug, clap::Args)]
pub struct ShardOptions {
    /// Reconcile in all replicas at the same time, each a share of this number of slots; replaces `--leader-elect`
    #[arg(long, env, value_name = "SLOTS")]
    pub shards: Option<SlotCount>,
    /// The field that decides the slot of an object
    #[arg(long, env, value_name = "FIELD", value_enum, default_value = "object")]
    pub shard_by: ShardBy,
}

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;list;create;update;delete,namespace=system,\
//     roleName=leader-election-role
impl Manager {
    /// The slots of this replica, none of which it owns at first; `None` if it reconciles all objects.
    pub(crate) fn slots(options: &Options, term: &Term, metrics: &Metrics) -> Option<Arc<Slots>> {
        let count = options.shards.shards?;
        let slots = Arc::new(Slots::new(count, options.shards.shard_by, term.clone()));
        slots.measure(metrics);
        Some(slots)
    }
}
