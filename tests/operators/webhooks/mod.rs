//! `opctl create webhook`: every combination is compiled, linted, tested and rendered, and called by an API server.
//!
//! They compile operators, so they only run if selected: `cargo test --test operators webhooks`.
#![cfg(unix)]

mod cert_manager;
mod deployed;
mod operator;
mod project;
mod rendered;
mod trees;
mod words;

use std::thread::sleep;
use std::time::{Duration, Instant};

/// The timeout on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Polls until the condition holds.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        sleep(Duration::from_millis(100));
    }
}
