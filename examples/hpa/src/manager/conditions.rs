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

//! Conditions in the status of an object: what holds of it, why, and since when.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Status {
    True,
    False,
    Unknown,
}

pub fn ready(reason: &str, message: impl Into<String>) -> Condition {
    condition("Ready", Status::True, reason, message)
}

pub fn not_ready(reason: &str, message: impl Into<String>) -> Condition {
    condition("Ready", Status::False, reason, message)
}

/// `reason` is one CamelCase word for programs, `message` a sentence for people. Neither may hold what differs from one
/// try to the next, such as a time: each change of the status is an event, and so a reconcile.
pub fn condition(
    name: &str,
    status: Status,
    reason: &str,
    message: impl Into<String>,
) -> Condition {
    Condition {
        type_: name.to_owned(),
        status: format!("{status:?}"),
        reason: reason.to_owned(),
        message: message.into(),
        last_transition_time: Time(Timestamp::now()),
        observed_generation: None,
    }
}

/// The condition that follows `before`: its transition time changes only with its status.
pub fn next(before: &[Condition], mut now: Condition, generation: Option<i64>) -> Condition {
    let is_same = |old: &&Condition| old.type_ == now.type_ && old.status == now.status;
    if let Some(old) = before.iter().find(is_same) {
        now.last_transition_time = old.last_transition_time.clone();
    }
    now.observed_generation = generation;
    now
}

/// Puts the condition that follows in its place among the others, or behind them.
pub fn set(all: &mut Vec<Condition>, now: Condition, generation: Option<i64>) {
    let now = next(all, now, generation);
    match all.iter_mut().find(|old| old.type_ == now.type_) {
        Some(old) => *old = now,
        None => all.push(now),
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

    #[test]
    fn sets_one_of_several_and_keeps_their_order() {
        let mut all = vec![
            condition("Degraded", Status::False, "AsExpected", ""),
            ready("Reconciled", ""),
        ];
        let untouched = all[1].clone();
        set(
            &mut all,
            condition("Degraded", Status::Unknown, "NoAnswer", ""),
            Some(2),
        );
        set(
            &mut all,
            condition("Synced", Status::True, "Synced", ""),
            Some(2),
        );
        let said = |each: &Condition| format!("{}={}", each.type_, each.status);
        let said: Vec<String> = all.iter().map(said).collect();
        assert_eq!(said, ["Degraded=Unknown", "Ready=True", "Synced=True"]);
        assert_eq!(all[1], untouched);
    }
}
