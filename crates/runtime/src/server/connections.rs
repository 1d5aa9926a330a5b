//! All connections of a server: their number, their phases, and the memory of their requests.
//!
//! If connections or memory run short, this module selects a connection to close: never one whose request is
//! complete.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::Limits;

/// Interval in which waiting tasks check again, since connections become slow by mere passage of time.
const LOOK: Duration = Duration::from_millis(50);

/// A connection is not closed for a new one within this time after its last change of phase.
const BUSY: Duration = Duration::from_millis(100);

/// Requests and responses up to this size, in bytes, get memory before larger ones.
const SMALL: usize = 256 << 10;

/// A response up to this size, in bytes, always gets memory: a connection takes as much anyway.
const FREE: usize = 16 << 10;

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phase {
    /// The connection is new, or has received a part of the request's head.
    Head,
    Body,
    /// The request is complete; the handler runs.
    Service,
    /// The response is being written.
    Answer,
    /// The connection waits for the next request.
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
    /// Bytes held by all open connections.
    held: usize,
}

struct Open {
    client: IpAddr,
    phase: Phase,
    since: Instant,
    /// The part of the time since then that it waited for memory.
    waited: Duration,
    held: usize,
    /// The bytes that it will hold, if it waits for memory.
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

    /// Admits a connection; waits while all others are busy.
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
    /// Selects the connection that has been in its phase for longest, of the client with the most connections,
    /// including the new one.
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

    /// The transfer (request or response) that began first, including the one of `asks`.
    fn oldest_transfer(&self, asks: u64) -> Option<u64> {
        let transfers = self.open.iter().filter(|(id, open)| **id == asks || open.is_transfer());
        transfers.min_by_key(|(_, open)| open.since).map(|(id, _)| *id)
    }

    /// The transfer that began first among those that are late because of their client.
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

/// The slot of one connection, until it is dropped.
pub(super) struct Slot {
    id: u64,
    connections: Connections,
    /// Cancelled when the connection must be closed.
    pub closed: CancellationToken,
}

impl Slot {
    pub fn enter(&self, phase: Phase) {
        if let Some(open) = self.connections.lock().open.get_mut(&self.id) {
            (open.phase, open.since, open.waited) = (phase, Instant::now(), Duration::ZERO);
        }
    }

    /// The phase of the connection, and its start; `None` once the connection must be closed.
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

    /// Reserves memory for `size` more bytes, and closes slow transfers of other clients if needed.
    fn try_hold(self: &Arc<Self>, size: usize) -> Option<Held> {
        let limits = &self.connections.limits;
        let reserve = limits.memory.saturating_sub(limits.body_size);
        let mut all = self.connections.lock();
        while all.held + size > reserve {
            // The last `body_size` bytes are for the oldest transfer, so that there is always one that can proceed.
            if all.oldest_transfer(self.id) == Some(self.id) && all.held + size <= limits.memory {
                return Some(self.force(&mut all, size));
            }
            let slowest = all.slowest_transfer(self.id, limits.grace)?;
            all.close(slowest);
        }
        // Small requests go first: many of them fit into what large ones leave.
        let wants = size + all.open.get(&self.id).map_or(0, |open| open.held);
        if wants > SMALL && all.open.values().any(|open| open.waits.is_some_and(|wants| wants <= SMALL)) {
            return None;
        }
        Some(self.force(&mut all, size))
    }

    fn force(self: &Arc<Self>, all: &mut All, size: usize) -> Held {
        // A connection that is being closed gets the memory too, but it is not counted.
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

/// Marks a connection as waiting for memory until this is dropped. The client is not blamed for that time.
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

/// Memory of a connection, released on drop.
pub(super) struct Held {
    slot: Arc<Slot>,
    size: usize,
}

impl Held {
    pub async fn grow(&mut self, size: usize) {
        let more = self.slot.hold(size).await;
        self.add(more);
    }

    /// Resizes the memory of a request to that of its response. Only a response that is neither small nor smaller than
    /// the request waits.
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

/// Identifies a client by its address. An IPv6 client has a whole /64 network, so only that counts.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !0 << 64).into(),
        address => address,
    }
}
