//! All connections of a server: how many there are, what each one is doing, and how much memory its requests take.
//!
//! When connections or memory run short, it decides who has to leave. A connection whose request is complete never has to.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::Limits;

/// How often those that wait look again: time alone makes others slow.
const LOOK: Duration = Duration::from_millis(50);

/// A connection that does something else since less than this does not have to leave for a new one.
const BUSY: Duration = Duration::from_millis(100);

/// Requests and answers up to this size get memory before larger ones.
const SMALL: usize = 256 << 10;

/// What an answer may take in any case: no more than its connection takes anyway.
const FREE: usize = 16 << 10;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phase {
    /// It is new, or its request's head has begun to arrive.
    Head,
    Body,
    /// The request is complete, the answer is not.
    Service,
    /// The answer is being written.
    Answer,
    /// It waits for the next request.
    Idle,
}

#[derive(Clone)]
pub(super) struct Connections {
    all: Arc<Mutex<All>>,
    freed: Arc<Notify>,
    limits: Arc<Limits>,
}

#[derive(Default)]
struct All {
    next: u64,
    open: BTreeMap<u64, Open>,
    /// The sum of what the open ones hold.
    held: usize,
}

struct Open {
    client: IpAddr,
    phase: Phase,
    since: Instant,
    /// How much of this time it has waited for memory.
    waited: Duration,
    held: usize,
    /// What it will hold when it gets the memory that it waits for.
    waits: Option<usize>,
    closed: CancellationToken,
}

impl Open {
    fn is_transfer(&self) -> bool {
        self.waits.is_some() || matches!(self.phase, Phase::Body | Phase::Answer)
    }
}

impl Connections {
    pub fn new(limits: Arc<Limits>) -> Self {
        Self { all: Arc::default(), freed: Arc::default(), limits }
    }

    pub fn count(&self) -> usize {
        self.lock().open.len()
    }

    /// A place for one more connection; waits while all the others are busy.
    pub async fn admit(&self, client: IpAddr) -> Slot {
        let client = network(client);
        loop {
            let mut freed = std::pin::pin!(self.freed.notified());
            freed.as_mut().enable();
            if let Some(slot) = self.try_admit(client) {
                return slot;
            }
            let _ = timeout(LOOK, freed).await;
        }
    }

    fn try_admit(&self, client: IpAddr) -> Option<Slot> {
        let mut all = self.lock();
        if all.open.len() >= self.limits.connections {
            let victim = all.least_deserving(client)?;
            all.close(victim);
        }
        let (id, closed) = (all.next, CancellationToken::new());
        all.next += 1;
        let open = Open {
            client,
            phase: Phase::Head,
            since: Instant::now(),
            waited: Duration::ZERO,
            held: 0,
            waits: None,
            closed: closed.clone(),
        };
        all.open.insert(id, open);
        Some(Slot { id, closed, connections: self.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    /// Of the client with the most connections, counting the one that it asks for, the connection that has been doing the same for
    /// longest.
    fn least_deserving(&self, newcomer: IpAddr) -> Option<u64> {
        let mut counts = HashMap::from([(newcomer, 1_usize)]);
        for open in self.open.values() {
            *counts.entry(open.client).or_default() += 1;
        }
        let can_leave = self.open.iter().filter(|(_, open)| open.phase != Phase::Service);
        let order = |(_, open): &(&u64, &Open)| (Reverse(counts[&open.client]), open.since);
        let (id, _) = can_leave.min_by_key(order).filter(|(_, open)| open.since.elapsed() >= BUSY)?;
        Some(*id)
    }

    /// The request or answer that is on its way for longest, as far as `asks` does not begin later.
    fn oldest_transfer(&self, asks: u64) -> Option<u64> {
        let transfers = self.open.iter().filter(|(id, open)| **id == asks || open.is_transfer());
        transfers.min_by_key(|(_, open)| open.since).map(|(id, _)| *id)
    }

    /// Among those whose clients keep them waiting.
    fn slowest_transfer(&self, asks: u64, grace: Duration) -> Option<u64> {
        let is_late = |open: &Open| open.since.elapsed().saturating_sub(open.waited) >= grace;
        let is_slow = |open: &Open| open.is_transfer() && open.waits.is_none() && is_late(open);
        let slow = self.open.iter().filter(|(id, open)| **id != asks && is_slow(open));
        slow.min_by_key(|(_, open)| open.since).map(|(id, _)| *id)
    }

    fn close(&mut self, id: u64) {
        if let Some(open) = self.open.remove(&id) {
            self.held -= open.held;
            open.closed.cancel();
        }
    }
}

/// The place of one connection, until it is dropped.
pub(super) struct Slot {
    id: u64,
    connections: Connections,
    /// Cancelled when the connection has to leave.
    pub closed: CancellationToken,
}

impl Slot {
    pub fn enter(&self, phase: Phase) {
        if let Some(open) = self.connections.lock().open.get_mut(&self.id) {
            (open.phase, open.since, open.waited) = (phase, Instant::now(), Duration::ZERO);
        }
    }

    /// What the connection is doing, and since when; none once it has to leave.
    pub fn phase(&self) -> Option<(Phase, Instant)> {
        let all = self.connections.lock();
        all.open.get(&self.id).map(|open| (open.phase, open.since))
    }

    /// Waits for memory for `size` more bytes.
    pub async fn hold(self: &Arc<Self>, size: usize) -> Held {
        let mut waiting = None;
        loop {
            let mut freed = std::pin::pin!(self.connections.freed.notified());
            freed.as_mut().enable();
            if let Some(held) = self.try_hold(size) {
                return held;
            }
            waiting.get_or_insert_with(|| Waiting::new(self, size));
            let _ = timeout(LOOK, freed).await;
        }
    }

    /// Memory for `size` more bytes, for which slow requests and answers of others may have to leave.
    fn try_hold(self: &Arc<Self>, size: usize) -> Option<Held> {
        let limits = &self.connections.limits;
        let reserve = limits.memory.saturating_sub(limits.body_size);
        let mut all = self.connections.lock();
        while all.held + size > reserve {
            // The reserve belongs to one until it has finished or has to leave: so there is always one that can go on.
            if all.oldest_transfer(self.id) == Some(self.id) && all.held + size <= limits.memory {
                return Some(self.force(&mut all, size));
            }
            let slowest = all.slowest_transfer(self.id, limits.grace)?;
            all.close(slowest);
        }
        // Small ones go first: what large ones leave is enough for many of them.
        let wants = size + all.open.get(&self.id).map_or(0, |open| open.held);
        if wants > SMALL && all.open.values().any(|open| open.waits.is_some_and(|wants| wants <= SMALL)) {
            return None;
        }
        Some(self.force(&mut all, size))
    }

    fn force(self: &Arc<Self>, all: &mut All, size: usize) -> Held {
        // One that has to leave gets what it asks for, as long as it lives.
        if let Some(open) = all.open.get_mut(&self.id) {
            open.held += size;
            all.held += size;
        }
        Held { slot: self.clone(), size }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connections.lock().close(self.id);
        self.connections.freed.notify_waiters();
    }
}

/// A connection waits for memory until this is dropped. That time is not its client's fault.
struct Waiting<'a> {
    slot: &'a Slot,
    since: Instant,
}

impl<'a> Waiting<'a> {
    fn new(slot: &'a Slot, size: usize) -> Self {
        if let Some(open) = slot.connections.lock().open.get_mut(&slot.id) {
            open.waits = Some(open.held + size);
        }
        Self { slot, since: Instant::now() }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(open) = self.slot.connections.lock().open.get_mut(&self.slot.id) {
            open.waits = None;
            open.waited += self.since.elapsed();
        }
        self.slot.connections.freed.notify_waiters();
    }
}

/// Memory that a connection holds, until this is dropped.
pub(super) struct Held {
    slot: Arc<Slot>,
    size: usize,
}

impl Held {
    /// Waits for more.
    pub async fn grow(&mut self, size: usize) {
        let more = self.slot.hold(size).await;
        self.add(more);
    }

    /// The memory of a request becomes that of its answer. A small one gets it at once; another waits where it is larger than the
    /// request.
    pub async fn resize(&mut self, size: usize) {
        if let Some(spare) = self.size.checked_sub(size) {
            drop(Self { slot: self.slot.clone(), size: spare });
            self.size = size;
        } else if size <= FREE {
            let more = self.slot.force(&mut self.slot.connections.lock(), size - self.size);
            self.add(more);
        } else {
            self.grow(size - self.size).await;
        }
    }

    fn add(&mut self, mut more: Self) {
        self.size += std::mem::take(&mut more.size);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let connections = &self.slot.connections;
        let mut all = connections.lock();
        if let Some(open) = all.open.get_mut(&self.slot.id) {
            open.held -= self.size;
            all.held -= self.size;
        }
        drop(all);
        connections.freed.notify_waiters();
    }
}

/// Who is at the other end: an IPv6 client has a whole network of addresses.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !0 << 64).into(),
        address => address,
    }
}
