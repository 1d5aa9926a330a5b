//! The time that a computation takes on a processor. Unlike the time on the clock, it does not depend on what else the machine does.

use std::fs;
use std::time::Duration;

/// Processor time of this thread so far; zero where there is no `/proc`.
pub fn cpu_time() -> Duration {
    let nanoseconds = fs::read_to_string("/proc/thread-self/schedstat");
    let nanoseconds = nanoseconds.ok().and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or(Duration::ZERO, Duration::from_nanos)
}
