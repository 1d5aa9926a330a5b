//! The worked examples with a real API server: installed by their Makefile, built by cargo, and run with the token of
//! their service account, so with only the permissions of their generated roles.
//!
//! They compile operators, so they only run if selected: `cargo test --test operators examples`. The integration tests
//! of all examples run; further tests of examples other than memcached are left to the nightly workflow.
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

/// The timeout on a busy machine. It exceeds an operator's retry delays in the first minutes.
const PATIENCE: Duration = Duration::from_secs(150);

/// Polls until the condition holds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        sleep(Duration::from_millis(200));
    }
}
