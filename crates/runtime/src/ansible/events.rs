//! The events that ansible-runner prints, one on each line: what a run made, why it failed, and what it asks for.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::jiff::SignedDuration;
use kube::api::ObjectMeta;
use kube::core::GroupVersionKind;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::shortened;

/// An event, as far as it matters here. Everything else is skipped without being kept.
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

/// What a task returns. Any module may have a field of any type under these names.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Returned {
    msg: Value,
    censored: Value,
    changed: Value,
    method: Value,
    /// Of `operator_sdk.util.requeue_after`.
    period: Value,
    result: Option<Box<RawValue>>,
    invocation: Option<Box<RawValue>>,
}

/// What the task was given.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Invocation {
    module_args: Arguments,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Arguments {
    state: Value,
    server_side_apply: Value,
}

/// What a module of kubernetes.core has written: an object, or a list of such results.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    api_version: Option<String>,
    kind: Option<String>,
    metadata: Option<ObjectMeta>,
    results: Option<Vec<Returned>>,
}

/// An object that a task has written.
#[derive(Clone, Debug)]
pub(super) struct Live {
    pub gvk: GroupVersionKind,
    pub metadata: ObjectMeta,
    /// As whom the task has written it, if it says so.
    pub manager: Option<String>,
    /// Whether the task writes only to what exists already.
    pub is_patched: bool,
}

/// What an event shows about the cluster.
#[derive(Clone, Debug)]
pub(super) enum Seen {
    Object(Box<Live>),
    /// This task has changed something that its result does not name.
    Hidden {
        task: String,
        why: &'static str,
    },
}

/// What a run has said so far.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// The last failure of each host that was not ignored.
    failures: BTreeMap<String, String>,
    /// Without a task: why it could not begin.
    errors: String,
    /// The last line before the first task.
    preface: String,
    pub task: String,
    pub stats: Option<Stats>,
    requeue: Option<Value>,
}

/// What is known at the end of a run.
#[derive(Debug, Default)]
pub(super) struct Stats {
    pub ok: i64,
    pub changed: i64,
    pub skipped: i64,
    failed: i64,
    data: Map<String, Value>,
}

impl Summary {
    /// Reads a line. What it shows of the cluster goes to `seen`; the text for people is returned.
    pub fn note(&mut self, line: &[u8], seen: &mut Vec<Seen>) -> Result<String, serde_json::Error> {
        let Event { event, stdout, event_data } = serde_json::from_slice(line)?;
        let data = event_data.map_or_else(|| Ok(Data::default()), |data| serde_json::from_str(data.get()));
        let Ok(mut data) = data else {
            seen.push(Seen::Hidden { task: self.task.clone(), why: "its result cannot be read" });
            return Ok(stdout);
        };
        match event.as_str() {
            "runner_on_start" => self.task.clone_from(&data.task),
            "runner_on_ok" | "runner_item_on_ok" => self.ok(&mut data, &stdout, seen),
            // An object may exist, and not be what the task waits for.
            "runner_on_failed" | "runner_item_on_failed" | "runner_on_unreachable" => {
                self.ok(&mut data, &stdout, seen);
                if data.ignore_errors != Some(true) {
                    self.failed(&event, data);
                }
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
            // Such as a playbook that cannot be parsed.
            "verbose" | "error" if self.errors.len() < 4000 && stdout.contains("ERROR") => {
                self.errors += &stdout;
                self.errors.push('\n');
            }
            "verbose" | "error" => self.said(&stdout),
            _ => {}
        }
        Ok(stdout)
    }

    /// A line that belongs to no task, such as one of Python that fails to start.
    pub fn said(&mut self, line: &str) {
        if self.task.is_empty() && !line.trim().is_empty() {
            self.preface = shortened(line.trim(), 2000).to_owned();
        }
    }

    fn ok(&mut self, data: &mut Data, stdout: &str, seen: &mut Vec<Seen>) {
        let action = data.resolved_action.as_deref().unwrap_or_default();
        let (collection, module) = action.rsplit_once('.').unwrap_or(("", action));
        let Some(res) = data.res.take() else { return };
        let hidden = |why| Seen::Hidden { task: data.task.clone(), why };
        let writes = ["kubernetes.core", "community.okd", "redhat.openshift"].contains(&collection)
            && ["k8s", "k8s_service", "helm"].contains(&module);
        if !res.censored.is_null() {
            if writes && stdout.contains("changed: [") {
                seen.push(hidden("its `no_log` hides the objects"));
            }
        } else if writes && module == "helm" {
            if res.changed == true {
                seen.push(hidden("the objects belong to a Helm release"));
            }
        } else if action == "operator_sdk.util.requeue_after" {
            self.requeue = Some(res.period.clone());
        } else {
            let invocation = res.invocation.as_ref().and_then(|raw| serde_json::from_str::<Invocation>(raw.get()).ok());
            res.objects(&invocation.unwrap_or_default().module_args, seen);
        }
        data.res = Some(res);
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
            // The one after the items says nothing.
            "runner_on_failed" if why.starts_with("One or more items failed") => {
                self.failures.entry(data.host).or_insert(text);
            }
            _ => {
                self.failures.insert(data.host, text);
            }
        }
    }

    /// Whether all tasks ended well, except for those that were rescued or ignored.
    pub fn is_good(&self) -> bool {
        self.stats.as_ref().is_some_and(|stats| stats.failed == 0)
    }

    /// Where a run stopped that did not end.
    pub fn place(&self) -> String {
        match (self.task.as_str(), self.preface.as_str()) {
            ("", "") => "before its first task".to_owned(),
            ("", preface) => format!("before its first task: {preface}"),
            (task, _) => format!("in the task `{task}`"),
        }
    }

    /// Why the run has failed, if a task says so.
    pub fn failure(&self) -> Option<String> {
        let why = Vec::from_iter(self.failures.values().map(String::as_str)).join("; ");
        let errors = self.errors.trim();
        match (why.is_empty(), errors.is_empty()) {
            (false, _) => Some(why),
            (true, false) => Some(shortened(errors, 2000).to_owned()),
            (true, true) => None,
        }
    }

    /// The fields of the status that the role has set.
    pub fn status(&self) -> Result<Map<String, Value>, String> {
        match self.stats.as_ref().and_then(|stats| stats.data.get("status")) {
            None => Ok(Map::new()),
            Some(Value::Object(fields)) => Ok(fields.clone()),
            Some(other) => Err(format!("`status` of `set_stats` is not a map: {other}")),
        }
    }

    /// When the role asks to be run again.
    pub fn requeue(&self) -> Result<Option<Duration>, String> {
        let wanted = self.stats.as_ref().and_then(|stats| stats.data.get("requeue_after")).or(self.requeue.as_ref());
        let Some(wanted) = wanted else { return Ok(None) };
        let time = match wanted {
            Value::String(text) => duration(text),
            other => other.as_u64().map(Duration::from_secs),
        };
        time.map(Some).ok_or_else(|| format!("`requeue_after` is no duration such as `30s`: {wanted}"))
    }
}

impl Returned {
    fn objects(&self, arguments: &Arguments, seen: &mut Vec<Seen>) {
        if self.method == "delete" {
            return;
        }
        let Some(written) = self.result.as_ref().and_then(|raw| serde_json::from_str::<Written>(raw.get()).ok()) else {
            return;
        };
        if let Some(results) = &written.results {
            results.iter().for_each(|each| each.objects(arguments, seen));
        }
        if let (Some(api_version), Some(kind), Some(metadata)) = (written.api_version, written.kind, written.metadata)
            && metadata.uid.is_some()
            && metadata.name.is_some()
        {
            let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
            let gvk = GroupVersionKind::gvk(group, version, &kind);
            let manager = arguments.server_side_apply["field_manager"].as_str().map(str::to_owned);
            let is_patched = arguments.state == "patched";
            seen.push(Seen::Object(Box::new(Live { gvk, metadata, manager, is_patched })));
        }
    }
}

/// Such as `1h30m`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    text.parse::<SignedDuration>().ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn note(events: &[Value]) -> (Summary, Vec<Seen>) {
        let (mut summary, mut seen) = (Summary::default(), Vec::new());
        for event in events {
            summary.note(event.to_string().as_bytes(), &mut seen).unwrap();
        }
        (summary, seen)
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
    fn objects_are_found_in_all_shapes_of_results() {
        let object = |name: &str| json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name, "uid": name } });
        let (_, seen) = note(&[
            task("runner_on_ok", "kubernetes.core.k8s", json!({ "method": "create", "result": object("one") })),
            task("runner_item_on_ok", "kubernetes.core.k8s", json!({ "result": object("item") })),
            task(
                "runner_on_ok",
                "kubernetes.core.k8s",
                json!({ "result": { "results": [
                { "method": "apply", "result": object("first") }, { "method": "delete", "result": object("gone") },
            ] } }),
            ),
            task("runner_on_failed", "kubernetes.core.k8s", json!({ "msg": "timed out", "result": object("late") })),
            task(
                "runner_on_ok",
                "kubernetes.core.k8s",
                json!({ "method": "update", "result": object("patched"),
                "invocation": { "module_args": { "state": "patched", "server_side_apply": null } } }),
            ),
            task("runner_on_ok", "kubernetes.core.k8s", json!({ "method": "delete", "result": object("deleted") })),
            task(
                "runner_on_ok",
                "ansible.builtin.uri",
                json!({ "result": "text", "msg": [1], "method": 3, "invocation": 4 }),
            ),
        ]);
        let names: Vec<_> = seen
            .iter()
            .map(|seen| match seen {
                Seen::Object(live) => (live.metadata.name.clone().unwrap(), live.is_patched),
                Seen::Hidden { .. } => panic!("{seen:?}"),
            })
            .collect();
        let names = Vec::from_iter(names.iter().map(|(name, is_patched)| (name.as_str(), *is_patched)));
        assert_eq!(names, [("one", false), ("item", false), ("first", false), ("late", false), ("patched", true)]);
    }

    #[test]
    fn what_a_task_hides_is_known_to_be_hidden() {
        let hidden = |action: &str, res: Value| note(&[task("runner_on_ok", action, res)]).1.len();
        let censored = json!({ "censored": "the output has been hidden" });
        assert_eq!(hidden("kubernetes.core.k8s", censored.clone()), 1);
        assert_eq!(hidden("kubernetes.core.k8s_info", censored.clone()), 0);
        assert_eq!(hidden("ansible.builtin.command", censored), 0);
        assert_eq!(hidden("kubernetes.core.helm", json!({ "changed": true })), 1);
        assert_eq!(hidden("kubernetes.core.helm", json!({ "changed": false })), 0);
        assert_eq!(hidden("kubernetes.core.k8s", json!("no map")), 1);
    }

    #[test]
    fn a_failure_is_the_one_that_ended_the_run() {
        let mut ignored = task("runner_on_failed", "ansible.builtin.fail", json!({ "msg": "ignored" }));
        ignored["event_data"]["ignore_errors"] = true.into();
        let rescued = task("runner_on_failed", "ansible.builtin.fail", json!({ "msg": "rescued" }));
        let (summary, _) = note(&[ignored.clone(), rescued.clone(), stats(0)]);
        assert!(summary.is_good());
        let failed = task("runner_item_on_failed", "ansible.builtin.fail", json!({ "msg": "the item" }));
        let all = task("runner_on_failed", "ansible.builtin.fail", json!({ "msg": "One or more items failed" }));
        let (summary, _) = note(&[rescued, failed, all, ignored, stats(1)]);
        assert!(!summary.is_good());
        assert_eq!(summary.failure().as_deref(), Some("task `Make it`: the item"));
        let secret = task("runner_on_failed", "ansible.builtin.fail", json!({ "censored": "x", "msg": "s3cret" }));
        let (summary, _) = note(&[secret]);
        assert_eq!(summary.failure().as_deref(), Some("task `Make it`: `no_log` hides why"));
        assert!(!summary.is_good(), "it did not end");
        let (summary, _) = note(&[json!({ "event": "verbose", "stdout": "[ERROR]: the role 'x' was not found" })]);
        assert_eq!(summary.failure().as_deref(), Some("[ERROR]: the role 'x' was not found"));
        let (mut summary, _) =
            note(&[json!({ "event": "verbose", "stdout": "no locale" }), json!({ "event": "verbose" })]);
        assert_eq!((summary.failure(), summary.place()), (None, "before its first task: no locale".to_owned()));
        summary.task = "Make it".into();
        assert_eq!(summary.place(), "in the task `Make it`");
    }

    #[test]
    fn a_role_sets_the_status_and_the_time_of_the_next_run() {
        let (summary, _) = note(&[stats(0)]);
        assert_eq!(summary.status().map(Value::from), Ok(json!({ "nodes": ["a"] })));
        assert_eq!(summary.requeue(), Ok(Some(Duration::from_secs(90))));
        let (summary, _) = note(&[task("runner_on_ok", "operator_sdk.util.requeue_after", json!({ "period": "5s" }))]);
        assert_eq!(summary.requeue(), Ok(Some(Duration::from_secs(5))));
        let wrong = task("runner_on_ok", "operator_sdk.util.requeue_after", json!({ "period": "often" }));
        assert!(note(&[wrong]).0.requeue().unwrap_err().contains("often"));
    }
}
