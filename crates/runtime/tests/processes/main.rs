//! The examples of this crate as processes on a real API server, where signals, the whole log or the folder of the process matter.
//!
//! All but those of conversions need `KUBEBUILDER_ASSETS`, and report that they were skipped without it; with `OPCTL_TESTS_MUST_RUN`
//! set, that is a failure. Each has an API server of its own.
#![cfg(unix)]

#[path = "../../examples/backups/main.rs"]
#[expect(dead_code, reason = "`main` is for the process")]
mod backups;
mod certificates;
#[path = "../../../../tests/common/control_plane.rs"]
mod control_plane;
mod conversions;
mod example;
mod leadership;
mod logs;
#[path = "../../../../tests/common/manager.rs"]
mod manager;
mod objects;
mod resilience;
mod webhooks;

use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than what an operator waits between two tries in its first minutes, on a machine that is busy with other tests.
const RETRIES: Duration = Duration::from_secs(150);
/// For what happens without a second try.
const MINUTE: Duration = Duration::from_secs(60);

/// Tries until it is so.
fn within(limit: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < limit, "not within {limit:?}: {what}");
        sleep(Duration::from_millis(100));
    }
}
