//! The processor time of a computation. Unlike wall clock time, it does not depend on the load of the machine.

use std::fs;
use std::time::Duration;

/// Processor time of this thread so far; zero without `/proc`.
pub fn cpu_time() -> Duration {
    let nanoseconds = fs::read_to_string("/proc/thread-self/schedstat");
    let nanoseconds = nanoseconds.ok().and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or(Duration::ZERO, Duration::from_nanos)
}
