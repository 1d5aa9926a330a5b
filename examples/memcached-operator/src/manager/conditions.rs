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

//! The condition `Ready` in the status of an object.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;

pub fn ready(reason: &str, message: impl Into<String>) -> Condition {
    condition("True", reason, message.into())
}

pub fn not_ready(reason: &str, message: impl Into<String>) -> Condition {
    condition("False", reason, message.into())
}

/// The condition that follows `before`: its transition time changes only with its status.
pub fn next(before: &[Condition], now: Condition, generation: Option<i64>) -> Condition {
    let unchanged = before
        .iter()
        .find(|old| old.type_ == now.type_ && old.status == now.status);
    Condition {
        last_transition_time: unchanged.map_or(now.last_transition_time, |old| {
            old.last_transition_time.clone()
        }),
        observed_generation: generation,
        ..now
    }
}

/// `reason` is one CamelCase word for programs, `message` a sentence for people. Neither may hold what differs from one
/// try to the next, such as a time: each change of the status is an event, and so a reconcile.
fn condition(status: &str, reason: &str, message: String) -> Condition {
    Condition {
        type_: "Ready".to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message,
        last_transition_time: Time(Timestamp::now()),
        observed_generation: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_transition_time_until_the_status_changes() {
        let mut before = ready("Reconciled", "");
        before.last_transition_time = Time(Timestamp::UNIX_EPOCH);
        let same = next(&[before.clone()], ready("Reconciled", "still"), Some(2));
        assert_eq!(same.last_transition_time, before.last_transition_time);
        assert_eq!(
            (same.message.as_str(), same.observed_generation),
            ("still", Some(2))
        );
        let other = next(&[before.clone()], not_ready("Failed", ""), Some(3));
        assert_ne!(other.last_transition_time, before.last_transition_time);
    }
}
