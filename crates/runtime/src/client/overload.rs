//! Circuit breaker for an overloaded API server: after a response with 429 or 503, no request is sent for a pause, then
//! one at a time, and more with each response.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::telemetry::random;

/// Maximum of a `Retry-After` that is respected.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Maximum pause after a refusal without `Retry-After`.
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);
/// Number of concurrent requests that ends the recovery.
const RECOVERED: u32 = 32;

/// Admits requests: all of them, or after a refusal none for a pause, then a slowly growing number.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// `None` while the server is not known to be overloaded.
    recovery: Option<Recovery>,
    /// Number of refusals. A response to a request of an earlier epoch is ignored: it is outdated.
    epoch: u64,
    /// Refusals in a row.
    refusals: u32,
}

struct Recovery {
    closed_until: Instant,
    in_flight: u32,
    limit: u32,
}

/// Admission of one request, held until it is answered or dropped.
pub(super) struct Pass<'a> {
    gate: &'a Gate,
    epoch: u64,
}

/// The deadline passes before the server recovers. Contains the time until a request may be sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Overloaded(pub Duration);

impl Gate {
    /// Waits until a request may be sent. Fails as soon as this is known to be later than the deadline.
    pub async fn enter(&self, deadline: Instant) -> Result<Pass<'_>, Overloaded> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Registered before the state is read, so that no change is missed.
            changed.as_mut().enable();
            let until = {
                let (mut state, now) = (self.state(), Instant::now());
                let epoch = state.epoch;
                match &mut state.recovery {
                    None => return Ok(Pass { gate: self, epoch }),
                    Some(recovery) if now >= recovery.closed_until => {
                        if recovery.in_flight < recovery.limit {
                            recovery.in_flight += 1;
                            return Ok(Pass { gate: self, epoch });
                        }
                        deadline
                    }
                    Some(recovery) if recovery.closed_until > deadline => {
                        return Err(Overloaded(recovery.closed_until - now));
                    }
                    Some(recovery) => recovery.closed_until,
                }
            };
            if timeout_at(until, changed).await.is_err() && Instant::now() >= deadline {
                return Err(Overloaded(Duration::from_secs(1)));
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass<'_> {
    /// The server answered: admits one more concurrent request.
    pub fn answered(self) {
        let mut state = self.gate.state();
        if state.epoch != self.epoch {
            return;
        }
        state.refusals = 0;
        if let Some(recovery) = &mut state.recovery {
            recovery.limit += 1;
            if recovery.limit > RECOVERED {
                state.recovery = None;
            }
        }
    }

    /// The server is overloaded: pauses for its `Retry-After`, or else for one second, doubled with each refusal in a
    /// row.
    pub fn refused(self, retry_after: Option<Duration>) {
        let mut state = self.gate.state();
        let now = Instant::now();
        if state.epoch == self.epoch {
            let backoff = Duration::from_secs(1).saturating_mul(2_u32.saturating_pow(state.refusals));
            let pause = retry_after.map_or(backoff.min(LONGEST_BACKOFF), |asked| asked.min(LONGEST_PAUSE));
            state.epoch += 1;
            state.refusals += 1;
            let recovery = Recovery { closed_until: now + jittered_pause(pause), in_flight: 0, limit: 1 };
            state.recovery = Some(recovery);
        } else if let (Some(recovery), Some(asked)) = (&mut state.recovery, retry_after) {
            // The request was sent before the pause began.
            recovery.closed_until = recovery.closed_until.max(now + asked.min(LONGEST_PAUSE));
        }
    }
}

/// Admits the next request, even if this one got no response.
impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        if state.epoch == self.epoch
            && let Some(recovery) = &mut state.recovery
        {
            recovery.in_flight = recovery.in_flight.saturating_sub(1);
        }
        drop(state);
        self.gate.changed.notify_waiters();
    }
}

/// Adds up to a quarter, so that several operators or replicas do not resume at the same moment.
fn jittered_pause(pause: Duration) -> Duration {
    pause + pause.mul_f64((random() % 1000) as f64 / 4000.0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::time::sleep;

    use super::*;

    fn in_a_minute() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[tokio::test(start_paused = true)]
    async fn one_request_at_a_time_asks_whether_the_overload_is_over() {
        let gate = Arc::new(Gate::default());
        let sent = Arc::new(AtomicU32::new(0));
        // These are sent before the first refusal.
        let passes: Vec<_> = futures::future::join_all((0..100).map(|_| gate.enter(in_a_minute()))).await;
        passes.into_iter().for_each(|pass| pass.unwrap().refused(Some(Duration::from_secs(5))));
        let start = Instant::now();
        let waiting = (0..100).map(|_| {
            let (gate, sent) = (gate.clone(), sent.clone());
            tokio::spawn(async move {
                let pass = gate.enter(Instant::now() + Duration::from_secs(600)).await.unwrap();
                sent.fetch_add(1, Ordering::SeqCst);
                sleep(Duration::from_millis(10)).await;
                match start.elapsed() < Duration::from_secs(20) {
                    true => pass.refused(Some(Duration::from_secs(5))),
                    false => pass.answered(),
                }
            })
        });
        let waiting: Vec<_> = waiting.collect();
        sleep(Duration::from_millis(4900)).await;
        assert_eq!(sent.load(Ordering::SeqCst), 0, "Retry-After is 5 seconds");
        sleep(Duration::from_secs(15)).await;
        let refused = sent.load(Ordering::SeqCst);
        assert!((3..=4).contains(&refused), "{refused}");
        futures::future::join_all(waiting).await;
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
        assert!(gate.state().recovery.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_double_when_the_server_asks_for_none() {
        let gate = Gate::default();
        let mut pauses = Vec::new();
        for _ in 0..8 {
            let start = Instant::now();
            gate.enter(in_a_minute()).await.unwrap().refused(None);
            pauses.push(start.elapsed().as_secs());
        }
        // With the jitter of up to a quarter.
        for (pause, least) in pauses.iter().zip([0, 1, 2, 4, 8, 16, 30, 30]) {
            assert!((least..=least + least / 4 + 1).contains(pause), "{pauses:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn fails_at_once_when_the_pause_is_longer_than_the_deadline() {
        let gate = Gate::default();
        gate.enter(in_a_minute()).await.unwrap().refused(Some(Duration::from_secs(3600)));
        let start = Instant::now();
        let refused = gate.enter(Instant::now() + Duration::from_secs(10)).await;
        let Err(Overloaded(left)) = refused else { panic!("let through") };
        assert!(start.elapsed().is_zero() && left <= Duration::from_secs(75), "an hour is cut to a minute: {left:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_given_up_makes_room_for_the_next() {
        let gate = Gate::default();
        gate.enter(in_a_minute()).await.unwrap().refused(None);
        let first = gate.enter(in_a_minute()).await.unwrap();
        let (second, ()) = tokio::join!(gate.enter(in_a_minute()), async {
            sleep(Duration::from_secs(3)).await;
            drop(first);
        });
        assert!(second.is_ok());
    }
}
