//! Conditions in the status of an object.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;

use crate::error::shortened;

/// The type of the condition that summarizes all others.
pub const READY: &str = "Ready";

/// The status of a condition.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Status {
    /// The condition holds.
    True,
    /// The condition does not hold.
    False,
    /// It is not known if the condition holds.
    Unknown,
}

/// The condition `Ready` with status `True`.
pub fn ready(reason: &str, message: impl Into<String>) -> Condition {
    condition(READY, Status::True, reason, message)
}

/// The condition `Ready` with status `False`.
pub fn not_ready(reason: &str, message: impl Into<String>) -> Condition {
    condition(READY, Status::False, reason, message)
}

/// A condition with the current time as its transition time.
///
/// `reason` is one CamelCase word for programs, `message` a sentence for people. Neither should contain a value that
/// differs between retries, such as a time: each retry would then write the status.
///
/// Values that the API server would reject are adapted: `reason` is reduced to letters, digits, `_`, `,` and `:`, and
/// `message` is truncated to 32,768 bytes.
pub fn condition(name: &str, status: Status, reason: &str, message: impl Into<String>) -> Condition {
    Condition {
        type_: name.to_owned(),
        status: format!("{status:?}"),
        reason: valid_reason(reason),
        message: shortened(&message.into(), 32_768).to_owned(),
        last_transition_time: Time(Timestamp::now()),
        observed_generation: None,
    }
}

/// Reduces a reason to `[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?`, at most 1024 characters; `Unknown` if nothing is left.
fn valid_reason(reason: &str) -> String {
    let is_legal = |c: &char| c.is_ascii_alphanumeric() || "_,:".contains(*c);
    let reason: String = reason.chars().filter(is_legal).take(1024).collect();
    let reason = reason.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).trim_end_matches([',', ':']);
    if reason.is_empty() { "Unknown".to_owned() } else { reason.to_owned() }
}

/// Returns `now` with the transition time of the condition in `before`, unless the status changed, and with
/// `observedGeneration`.
pub fn next(before: &[Condition], mut now: Condition, generation: Option<i64>) -> Condition {
    let is_same = |old: &&Condition| old.type_ == now.type_ && old.status == now.status;
    if let Some(old) = before.iter().find(is_same) {
        now.last_transition_time = old.last_transition_time.clone();
    }
    now.observed_generation = generation;
    now
}

/// Replaces the condition of the same type, or appends `now`.
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
        assert_eq!((same.message.as_str(), same.observed_generation), ("still", Some(2)));
        let other = next(&[before.clone()], not_ready("Failed", ""), Some(3));
        assert_ne!(other.last_transition_time, before.last_transition_time);
    }

    #[test]
    fn is_always_one_that_the_api_server_accepts() {
        for (given, reason) in [
            ("Reconciled", "Reconciled"),
            ("Not ready!", "Notready"),
            ("1st,", "st"),
            ("", "Unknown"),
            ("ä", "Unknown"),
            ("a:b,", "a:b"),
        ] {
            assert_eq!(ready(given, "").reason, reason);
        }
        assert_eq!(ready("A", "ä".repeat(20_000)).message.len(), 32_768);
        assert_eq!(ready("A", format!("a{}", "ä".repeat(20_000))).message.len(), 32_767);
    }

    #[test]
    fn sets_one_of_several_and_keeps_their_order() {
        let mut all = vec![condition("Degraded", Status::False, "AsExpected", ""), ready("Reconciled", "")];
        let untouched = all[1].clone();
        set(&mut all, condition("Degraded", Status::Unknown, "NoAnswer", ""), Some(2));
        set(&mut all, condition("Synced", Status::True, "Synced", ""), Some(2));
        let shown: Vec<String> = all.iter().map(|each| format!("{}={}", each.type_, each.status)).collect();
        assert_eq!(shown, ["Degraded=Unknown", "Ready=True", "Synced=True"]);
        assert_eq!(all[1], untouched);
    }
}
