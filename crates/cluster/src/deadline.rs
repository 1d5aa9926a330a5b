//! Deadlines for waiting. The clock only affects the duration, never the output.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// The polling interval: short compared with the expected time, long compared with a call of kubectl.
const PAUSE: Duration = Duration::from_millis(300);

#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    start: Instant,
    patience: Duration,
}

impl Deadline {
    pub fn after(patience: Duration) -> Self {
        Self { start: Instant::now(), patience }
    }

    pub fn has_passed(&self) -> bool {
        self.start.elapsed() >= self.patience
    }

    /// `true` if at least this much time has passed.
    pub(crate) fn has_waited(&self, for_at_least: Duration) -> bool {
        self.start.elapsed() >= for_at_least
    }

    pub fn pause(&self) {
        sleep(PAUSE.min(self.patience.saturating_sub(self.start.elapsed())));
    }
}
