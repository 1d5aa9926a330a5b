//! The slots of this replica: the thread of the Leases changes them, and controllers reconcile only their objects.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube::api::ObjectMeta;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::slot::{ShardBy, Slot, SlotCount};
use crate::leader_election::Term;
use crate::telemetry::metrics::Metrics;

/// The slots of this replica.
pub(crate) struct Slots {
    pub count: SlotCount,
    pub by: ShardBy,
    /// Reconciles start only within the term of this replica.
    term: Term,
    owned: watch::Sender<Owned>,
    /// Number of running reconciles by slot. Locked while `owned` changes, so that no reconcile begins in a slot that
    /// is just being given away.
    running: Mutex<BTreeMap<Slot, usize>>,
    /// A slot has no running reconcile any more.
    idle: Notify,
    /// Number of owned slots.
    gauge: Gauge,
    /// Cancelled when this replica reconciles, at first without a slot.
    pub joined: CancellationToken,
}

/// The slots that this replica owns at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owned {
    /// Increases with each change.
    pub generation: u64,
    /// The slots, each with the generation in which this replica got it.
    pub slots: BTreeMap<Slot, u64>,
}

impl Slots {
    pub fn new(count: SlotCount, by: ShardBy, term: Term) -> Self {
        let owned = watch::Sender::new(Owned::default());
        Self {
            count,
            by,
            term,
            owned,
            running: Mutex::default(),
            idle: Notify::new(),
            gauge: Gauge::default(),
            joined: CancellationToken::new(),
        }
    }

    /// Shows the number of owned slots, and of all.
    pub fn measure(&self, metrics: &Metrics) {
        metrics.register_with("controller_slots", "Slots whose objects this replica reconciles", self.gauge.clone());
        let all: Gauge = metrics.register("controller_slots_configured", "Slots of all replicas");
        all.set(self.count.get().into());
    }

    /// The owned slots, and their changes.
    pub fn subscribe(&self) -> watch::Receiver<Owned> {
        self.owned.subscribe()
    }

    pub fn owned(&self) -> Owned {
        self.owned.borrow().clone()
    }

    /// `true` if this is the object of an owned slot.
    pub fn is_mine(&self, object: &ObjectMeta) -> bool {
        self.owns(self.by.slot(self.count, object))
    }

    /// `true` if the controller that owns an object reconciles in an owned slot.
    pub fn is_child_of_mine(&self, object: &ObjectMeta) -> bool {
        self.owns(self.by.slot_of_owner(self.count, object))
    }

    fn owns(&self, slot: Option<Slot>) -> bool {
        slot.is_some_and(|slot| self.owned.borrow().slots.contains_key(&slot))
    }

    /// `true` if this replica got the slot of an object after this generation.
    pub fn is_new_since(&self, generation: u64, object: &ObjectMeta) -> bool {
        let owned = self.owned.borrow();
        let slot = self.by.slot(self.count, object);
        slot.is_none_or(|slot| owned.slots.get(&slot).is_none_or(|since| *since > generation))
    }

    /// Adds slots, whose Leases name this replica.
    pub fn gain(&self, slots: &[Slot]) {
        self.change(|owned| {
            let since = owned.generation;
            owned.slots.extend(slots.iter().map(|slot| (*slot, since)));
        });
    }

    /// Starts no more reconciles in these slots. Another replica may get a slot when it [is idle](Self::is_idle).
    pub fn drain(&self, slots: &[Slot]) {
        self.change(|owned| owned.slots.retain(|slot, _| !slots.contains(slot)));
    }

    fn change(&self, change: impl FnOnce(&mut Owned)) {
        let _running = self.running();
        self.owned.send_modify(|owned| {
            owned.generation += 1;
            change(owned);
            self.gauge.set(i64::try_from(owned.slots.len()).unwrap_or(i64::MAX));
        });
    }

    /// Begins a reconcile of an object, until the value is dropped. `None` if the object belongs to another replica, or
    /// this one got its slot after the generation `listed`: the cache may be older.
    pub fn enter(self: &Arc<Self>, object: &ObjectMeta, listed: u64) -> Option<Running> {
        let slot = self.by.slot(self.count, object)?;
        let mut running = self.running();
        let since = *self.owned.borrow().slots.get(&slot)?;
        if since > listed || self.term.is_over() {
            return None;
        }
        *running.entry(slot).or_default() += 1;
        Some(Running { slots: self.clone(), slot })
    }

    /// `true` if no reconcile runs in a slot.
    pub fn is_idle(&self, slot: Slot) -> bool {
        !self.running().contains_key(&slot)
    }

    /// Waits until a slot has become idle.
    pub async fn idle(&self) {
        self.idle.notified().await;
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<Slot, usize>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reconcile in a slot.
pub(crate) struct Running {
    slots: Arc<Slots>,
    slot: Slot,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = self.slots.running();
        if let Some(count) = running.get_mut(&self.slot) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.slot);
                self.slots.idle.notify_one();
            }
        }
    }
}
