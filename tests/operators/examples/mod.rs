//! The worked examples against a real API server, as their users run them: installed by their Makefile, built by cargo, and
//! with the token of their own service account, so with the rights of their generated roles and no others.
//!
//! They compile operators, so they run only when asked for: `cargo test --test operators examples`. The integration tests of all examples
//! run; what else an example does besides memcached's, the nightly workflow tests.
#![cfg(unix)]

mod application;
mod charts;
mod dev;
mod example;
mod hpa;
mod integration;
mod label_operator;
mod memcached;
mod memcached_ansible;
mod metrics;
mod mysrv;
mod namespace;
mod nginx;
mod prometheus;
mod scope;
mod wiki;

use std::thread::sleep;
use std::time::{Duration, Instant};

/// On a machine that is busy with other tests, and longer than what an operator waits between two tries in its first minutes.
const PATIENCE: Duration = Duration::from_secs(150);

/// Tries until it is so.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        sleep(Duration::from_millis(200));
    }
}
