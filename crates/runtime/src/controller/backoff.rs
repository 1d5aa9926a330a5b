//! Backoff after failures of reconciles and watches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kube::ResourceExt;
use kube::runtime::utils;

use crate::telemetry::random;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(5 * 60);

/// The number of consecutive failures of each object, by uid, and the time of the last one.
#[derive(Clone, Default)]
pub struct Backoff(Arc<Mutex<HashMap<String, (u32, Instant)>>>);

impl Backoff {
    /// Counts a failure, and returns the time until the next try: one second, doubled with each failure, up to five
    /// minutes.
    pub fn next(&self, object: &impl ResourceExt) -> Duration {
        let (mut objects, now) = (self.objects(), Instant::now());
        // Drops objects that were deleted while failing: the others fail again within this time.
        objects.retain(|_, (_, last)| now - *last < 2 * LONGEST);
        let (count, last) = objects.entry(key(object)).or_insert((0, now));
        let wait = FIRST.saturating_mul(2_u32.saturating_pow(*count));
        (*count, *last) = (*count + 1, now);
        jittered(wait.min(LONGEST))
    }

    /// Resets the failures of an object after a success.
    pub fn reset(&self, object: &impl ResourceExt) {
        self.objects().remove(&key(object));
    }

    fn objects(&self) -> MutexGuard<'_, HashMap<String, (u32, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(object: &impl ResourceExt) -> String {
    object.uid().unwrap_or_default()
}

/// The pause of a controller's watches after one of them has failed. All of them wait for it, so kube's default of up
/// to half a minute is too long.
pub struct Pause;

impl Iterator for Pause {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        Some(jittered(Duration::from_secs(3)))
    }
}

impl utils::Backoff for Pause {
    fn reset(&mut self) {}
}

/// Adds up to a tenth, so that many objects are not due at the same moment.
pub fn jittered(duration: Duration) -> Duration {
    duration + duration.mul_f64((random() % 1000) as f64 / 10_000.0)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn object(uid: &str) -> ConfigMap {
        let mut object = ConfigMap::default();
        object.metadata.uid = Some(uid.to_owned());
        object
    }

    #[test]
    fn doubles_up_to_the_longest_and_starts_again_after_a_success() {
        let backoff = Backoff::default();
        let failing = object("1");
        let waits: Vec<u64> = (0..11).map(|_| backoff.next(&failing).as_secs()).collect();
        assert!(waits[0] == 1 && waits[1] == 2 && waits[2] == 4, "{waits:?}");
        assert!((300..=330).contains(&waits[10]), "{waits:?}");
        assert_eq!(backoff.next(&object("2")).as_secs(), 1, "another object is not slowed down");
        backoff.reset(&failing);
        assert_eq!(backoff.next(&failing).as_secs(), 1);
    }
}
