//! Reports tests that cannot run.

use std::env;
use std::io::{self, Write};

/// Reports that something was not tested. Panics if OPCTL_TESTS_MUST_RUN is set.
pub fn skipped(what: &str, why: &str) {
    assert!(env::var_os("OPCTL_TESTS_MUST_RUN").is_none(), "{what} cannot be tested: {why}");
    // Not `eprintln!`, which the test harness captures.
    io::stderr().write_all(format!("SKIPPED {what}: {why}\n").as_bytes()).unwrap();
}
