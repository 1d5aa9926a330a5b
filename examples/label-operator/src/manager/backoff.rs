// Copyright The opctl Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

//! How long to wait: before a reconcile, or after a watch failed.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kube::ResourceExt;
use kube::runtime::utils;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(5 * 60);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Failures in a row, by object: each doubles the time until the next try.
#[derive(Clone, Default)]
pub struct Backoff(Arc<Mutex<HashMap<String, Failures>>>);

struct Failures {
    count: u32,
    last: Instant,
}

impl Backoff {
    /// Counts a failure and says how long to wait: from a second up to five minutes.
    pub fn next(&self, object: &impl ResourceExt) -> Duration {
        let mut objects = self.objects();
        let now = Instant::now();
        // Objects that were deleted while they failed; those that still fail are seen more often.
        objects.retain(|_, failures| now - failures.last < 2 * LONGEST);
        let (count, last) = (0, now);
        let failures = objects
            .entry(key(object))
            .or_insert(Failures { count, last });
        let wait = FIRST.saturating_mul(2_u32.saturating_pow(failures.count));
        failures.count += 1;
        failures.last = now;
        jittered(wait.min(LONGEST))
    }

    /// Forgets the failures of an object, after a success.
    pub fn reset(&self, object: &impl ResourceExt) {
        self.objects().remove(&key(object));
    }

    fn objects(&self) -> MutexGuard<'_, HashMap<String, Failures>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(object: &impl ResourceExt) -> String {
    object.uid().unwrap_or_default()
}

/// After failures of a controller's watches in a row: from a second up to five. All of its watches wait when one fails, so
/// kube's own half a minute is too long.
pub struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl Iterator for Pauses {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let pause = self.0;
        self.0 = (2 * pause).min(LONGEST_PAUSE);
        Some(jittered(pause))
    }
}

impl utils::Backoff for Pauses {
    fn reset(&mut self) {
        *self = Self::default();
    }
}

/// Turns at even distances: so many a second.
#[derive(Clone)]
pub struct Pace {
    pause: Duration,
    next: Arc<Mutex<Instant>>,
}

impl Pace {
    /// None for 0, which is no limit.
    pub fn new(rate: u32) -> Option<Self> {
        let pause = Duration::from_secs(1).checked_div(rate)?;
        let next = Arc::new(Mutex::new(Instant::now()));
        Some(Self { pause, next })
    }

    /// When it is one's turn.
    pub fn next(&self) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = Instant::now().max(*next);
        *next = turn + self.pause;
        turn
    }
}

/// Up to a tenth longer, so that many objects do not come due in the same moment.
pub fn jittered(duration: Duration) -> Duration {
    duration + duration.mul_f64((random() % 1000) as f64 / 10_000.0)
}

/// The keys of the standard library's hasher are random; that is all the randomness needed here.
pub(super) fn random() -> u64 {
    RandomState::new().hash_one(())
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
        assert_eq!(
            backoff.next(&object("2")).as_secs(),
            1,
            "another object is not slowed down"
        );
        backoff.reset(&failing);
        assert_eq!(backoff.next(&failing).as_secs(), 1);
    }

    #[test]
    fn a_watch_that_works_again_begins_with_short_pauses() {
        let mut pauses = Pauses::default();
        let seconds: Vec<u64> = pauses
            .by_ref()
            .take(5)
            .map(|pause| pause.as_secs())
            .collect();
        assert_eq!(seconds, [1, 2, 4, 5, 5]);
        utils::Backoff::reset(&mut pauses);
        assert_eq!(pauses.next().unwrap().as_secs(), 1);
    }

    #[test]
    fn hands_out_so_many_turns_a_second() {
        let start = Instant::now();
        let pace = Pace::new(1000).unwrap();
        let turns: Vec<Instant> = (0..100).map(|_| pace.next()).collect();
        assert!(turns.is_sorted() && turns[99] - start >= Duration::from_millis(99));
        let slow = Pace::new(1).unwrap();
        assert!(slow.next() <= Instant::now(), "the first one does not wait");
        assert!(Pace::new(0).is_none());
    }
}
