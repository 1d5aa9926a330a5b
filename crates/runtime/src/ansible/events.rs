//! Parses the events that ansible-runner prints, one per line: the reason of a failure, and the data that the role
//! sets.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::jiff::SignedDuration;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::shortened;

/// The relevant fields of an event. Others are skipped without allocating.
#[derive(Deserialize)]
struct Event {
    event: String,
    #[serde(default)]
    stdout: String,
    event_data: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Data {
    task: String,
    resolved_action: Option<String>,
    host: String,
    ignore_errors: Option<bool>,
    res: Option<Returned>,
    artifact_data: Option<Map<String, Value>>,
    ok: BTreeMap<String, i64>,
    changed: BTreeMap<String, i64>,
    skipped: BTreeMap<String, i64>,
    failures: BTreeMap<String, i64>,
    dark: BTreeMap<String, i64>,
}

/// The result of a task. Modules may return fields with these names and any type.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Returned {
    msg: Value,
    censored: Value,
    /// Returned by `operator_sdk.util.requeue_after`.
    period: Value,
}

/// The events of a run so far.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// The last failure of each host that was not ignored.
    failures: BTreeMap<String, String>,
    /// Errors outside of tasks, such as the reason why the run could not start.
    errors: String,
    /// The last line before the first task.
    preface: String,
    pub task: String,
    pub stats: Option<Stats>,
    requeue: Option<Value>,
}

/// Statistics at the end of a run.
#[derive(Debug, Default)]
pub(super) struct Stats {
    pub ok: i64,
    pub changed: i64,
    pub skipped: i64,
    failed: i64,
    data: Map<String, Value>,
}

impl Summary {
    /// Parses an event, and returns its text for users.
    pub fn note(&mut self, line: &[u8]) -> Result<String, serde_json::Error> {
        let Event { event, stdout, event_data } = serde_json::from_slice(line)?;
        let data = event_data.map_or_else(|| Ok(Data::default()), |data| serde_json::from_str(data.get()));
        // The result of a module has another structure.
        let Ok(data) = data else { return Ok(stdout) };
        match event.as_str() {
            "runner_on_start" => self.task.clone_from(&data.task),
            "runner_on_ok" | "runner_item_on_ok"
                if data.resolved_action.as_deref() == Some("operator_sdk.util.requeue_after") =>
            {
                self.requeue = data.res.map(|res| res.period);
            }
            "runner_on_failed" | "runner_item_on_failed" | "runner_on_unreachable"
                if data.ignore_errors != Some(true) =>
            {
                self.failed(&event, data);
            }
            "playbook_on_stats" => {
                let sum = |counts: &BTreeMap<String, i64>| counts.values().sum();
                self.stats = Some(Stats {
                    ok: sum(&data.ok),
                    changed: sum(&data.changed),
                    skipped: sum(&data.skipped),
                    failed: sum(&data.failures) + sum(&data.dark),
                    data: data.artifact_data.unwrap_or_default(),
                });
            }
            // For example, a playbook that cannot be parsed.
            "verbose" | "error" if self.errors.len() < 4000 && stdout.contains("ERROR") => {
                self.errors += &stdout;
                self.errors.push('\n');
            }
            "verbose" | "error" => self.said(&stdout),
            _ => {}
        }
        Ok(stdout)
    }

    /// Records a line outside of tasks, such as one of Python when it cannot start.
    pub fn said(&mut self, line: &str) {
        // After an error, Ansible prints the lines of the file.
        if self.task.is_empty() && !line.trim().is_empty() && !self.preface.contains("ERROR") {
            self.preface = shortened(line.trim(), 2000).to_owned();
        }
    }

    fn failed(&mut self, event: &str, data: Data) {
        let res = data.res.unwrap_or_default();
        let why = match (&res.censored, &res.msg) {
            (Value::Null, Value::Null) => "it failed without a message".to_owned(),
            (Value::Null, Value::String(why)) => why.trim().to_owned(),
            (Value::Null, why) => why.to_string(),
            _ => "`no_log` hides why".to_owned(),
        };
        let text = format!("task `{}`: {}", data.task, shortened(&why, 2000));
        match event {
            // The event after those of the items has no details.
            "runner_on_failed" if why.starts_with("One or more items failed") => {
                self.failures.entry(data.host).or_insert(text);
            }
            _ => {
                self.failures.insert(data.host, text);
            }
        }
    }

    /// `true` if no task failed, except for rescued and ignored ones.
    pub fn is_good(&self) -> bool {
        self.stats.as_ref().is_some_and(|stats| stats.failed == 0)
    }

    /// The place where an incomplete run stopped.
    pub fn place(&self) -> String {
        match (self.task.as_str(), self.preface.as_str()) {
            ("", "") => "before its first task".to_owned(),
            ("", preface) => format!("before its first task: {preface}"),
            (task, _) => format!("in the task `{task}`"),
        }
    }

    /// The reason of the failure, if a task reported one.
    pub fn failure(&self) -> Option<String> {
        let why = Vec::from_iter(self.failures.values().map(String::as_str)).join("; ");
        let errors = self.errors.trim();
        match (why.is_empty(), errors.is_empty()) {
            (false, _) => Some(why),
            (true, false) => Some(shortened(errors, 2000).to_owned()),
            (true, true) => None,
        }
    }

    /// The status fields that the role has set.
    pub fn status(&self) -> Result<Map<String, Value>, String> {
        match self.stats.as_ref().and_then(|stats| stats.data.get("status")) {
            None => Ok(Map::new()),
            Some(Value::Object(fields)) => Ok(fields.clone()),
            Some(other) => Err(format!("`status` of `set_stats` is not a map: {other}")),
        }
    }

    /// The time until the next run that the role has requested.
    pub fn requeue(&self) -> Result<Option<Duration>, String> {
        let wanted = self.stats.as_ref().and_then(|stats| stats.data.get("requeue_after")).or(self.requeue.as_ref());
        let Some(wanted) = wanted else { return Ok(None) };
        let time = match wanted {
            Value::String(text) => duration(text),
            other => other.as_u64().map(Duration::from_secs),
        };
        time.map(Some).ok_or_else(|| format!("`requeue_after` is not a duration such as `30s`: {wanted}"))
    }
}

/// Parses a duration such as `1h30m`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    text.parse::<SignedDuration>().ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn note(events: &[Value]) -> Summary {
        let mut summary = Summary::default();
        for event in events {
            summary.note(event.to_string().as_bytes()).unwrap();
        }
        summary
    }

    fn task(event: &str, action: &str, res: Value) -> Value {
        json!({ "event": event, "stdout": "changed: [localhost]",
            "event_data": { "task": "Make it", "host": "localhost", "resolved_action": action, "res": res } })
    }

    fn stats(failures: u32) -> Value {
        json!({ "event": "playbook_on_stats", "event_data": {
            "ok": { "localhost": 5 }, "changed": { "localhost": 1 }, "failures": { "localhost": failures },
            "artifact_data": { "status": { "nodes": ["a"] }, "requeue_after": "1m30s" } } })
    }

    #[test]
    fn a_failure_is_the_one_that_ended_the_run() {
        let mut ignored = task("runner_on_failed", "ansible.builtin.fail", json!({ "msg": "ignored" }));
        ignored["event_data"]["ignore_errors"] = true.into();
        let rescued = task("runner_on_failed", "ansible.builtin.fail", json!({ "msg": "rescued" }));
        let summary = note(&[ignored.clone(), rescued.clone(), stats(0)]);
        assert!(summary.is_good());
        let failed = task("runner_item_on_failed", "ansible.builtin.fail", json!({ "msg": "the item" }));
        let all = task("runner_on_failed", "ansible.builtin.fail", json!({ "msg": "One or more items failed" }));
        let summary = note(&[rescued, failed, all, ignored, stats(1)]);
        assert!(!summary.is_good());
        assert_eq!(summary.failure().as_deref(), Some("task `Make it`: the item"));
        let secret = task("runner_on_failed", "ansible.builtin.fail", json!({ "censored": "x", "msg": "s3cret" }));
        let summary = note(&[secret]);
        assert_eq!(summary.failure().as_deref(), Some("task `Make it`: `no_log` hides why"));
        assert!(!summary.is_good(), "it did not end");
        let summary = note(&[json!({ "event": "verbose", "stdout": "[ERROR]: the role 'x' was not found" })]);
        assert_eq!(summary.failure().as_deref(), Some("[ERROR]: the role 'x' was not found"));
        let mut summary = note(&[json!({ "event": "verbose", "stdout": "no locale" }), json!({ "event": "verbose" })]);
        assert_eq!((summary.failure(), summary.place()), (None, "before its first task: no locale".to_owned()));
        summary.said("[ERROR]: k8s_facts has been removed");
        summary.said("   ^ column 3");
        assert_eq!(summary.place(), "before its first task: [ERROR]: k8s_facts has been removed");
        summary.task = "Make it".into();
        assert_eq!(summary.place(), "in the task `Make it`");
    }

    #[test]
    fn a_role_sets_the_status_and_the_time_of_the_next_run() {
        let summary = note(&[stats(0)]);
        assert_eq!(summary.status().map(Value::from), Ok(json!({ "nodes": ["a"] })));
        assert_eq!(summary.requeue(), Ok(Some(Duration::from_secs(90))));
        let summary = note(&[task("runner_on_ok", "operator_sdk.util.requeue_after", json!({ "period": "5s" }))]);
        assert_eq!(summary.requeue(), Ok(Some(Duration::from_secs(5))));
        let wrong = task("runner_on_ok", "operator_sdk.util.requeue_after", json!({ "period": "often" }));
        assert!(note(&[wrong]).requeue().unwrap_err().contains("often"));
    }
}
