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

//! How long to wait before an object is reconciled again.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kube::ResourceExt;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(5 * 60);

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
        // Objects that were deleted while they failed; those that still fail are seen more often.
        objects.retain(|_, failures| failures.last.elapsed() < 2 * LONGEST);
        let failures = objects.entry(key(object)).or_insert(Failures {
            count: 0,
            last: Instant::now(),
        });
        let wait = FIRST
            .saturating_mul(2_u32.saturating_pow(failures.count))
            .min(LONGEST);
        failures.count += 1;
        failures.last = Instant::now();
        jittered(wait)
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

/// Up to a tenth longer, so that many objects do not come due in the same moment.
pub fn jittered(duration: Duration) -> Duration {
    // The keys of the standard library's hasher are random; that is all the randomness needed here.
    let random = RandomState::new().hash_one(()) % 1000;
    duration + duration.mul_f64(random as f64 / 10_000.0)
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
}
