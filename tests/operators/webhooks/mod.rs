//! `opctl create webhook`: every combination is compiled, linted, tested and rendered, and an API server asks what is made.
//!
//! They compile operators, so they run only when asked for: `cargo test --test operators webhooks`.
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

/// On a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// Tries until it is so.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        sleep(Duration::from_millis(100));
    }
}
