//! The runtime on a real API server: controllers in the test's process, with their own namespaces on a shared API
//! server; and the examples of this crate as processes, each with its own API server, if signals, the whole log or the
//! working folder matter.
//!
//! Run by name: `cargo test -p opctl-runtime --test cluster`. The tests need `KUBEBUILDER_ASSETS`, and report that they
//! were skipped without it; with `OPCTL_TESTS_MUST_RUN` set, that is a failure.
#![cfg(unix)]

mod ansible;
mod beats;
mod certificates;
mod children;
mod cluster;
#[path = "../../../../tests/common/control_plane.rs"]
mod control_plane;
mod example;
mod helm;
mod kinds;
mod leader_election;
mod leadership;
mod lifecycle;
mod logs;
#[path = "../../../../tests/common/manager.rs"]
mod manager;
mod objects;
mod overload;
mod proxy;
mod resilience;
mod shards;
#[path = "../../../../tests/common/skipped.rs"]
mod skipped;
mod undecodable;
mod webhooks;

use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than the backoff of an operator in its first minutes, on a machine that is busy with other tests.
const RETRIES: Duration = Duration::from_secs(150);
/// Timeout of what needs no retry.
const MINUTE: Duration = Duration::from_secs(60);

/// Waits until the condition holds.
fn within(limit: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < limit, "not within {limit:?}: {what}");
        sleep(Duration::from_millis(100));
    }
}
