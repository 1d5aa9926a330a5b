//! The progress of a Deployment's rollout, and the reasons why it does not complete.

use opctl_model::selector::LabelSelector;
use serde_json::Value;

use crate::{Deadline, Kubectl, KubectlError, Object, condition, items, text_at};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rollout {
    Done,
    /// Contains the reason.
    Waiting(String),
    /// Kubernetes has given up; contains the reason.
    Failed(String),
}

impl Rollout {
    /// Evaluates the status as `kubectl rollout status` does.
    pub fn of(deployment: &Value) -> Self {
        let number = |pointer: &str| deployment.pointer(pointer).and_then(Value::as_i64);
        let status = |field: &str| number(&format!("/status/{field}")).unwrap_or_default();
        if status("observedGeneration") < number("/metadata/generation").unwrap_or_default() {
            return Self::Waiting("the Deployment has not been processed yet".into());
        }
        if let Some([_, "ProgressDeadlineExceeded", message]) = condition(deployment, "Progressing") {
            return Self::Failed(message.into());
        }
        let wanted = number("/spec/replicas").unwrap_or(1);
        let (updated, old) = (status("updatedReplicas"), status("replicas") - status("updatedReplicas"));
        let available = status("availableReplicas");
        match () {
            () if updated < wanted => Self::Waiting(format!("{updated} of {wanted} Pods are created")),
            () if old > 0 => Self::Waiting(format!("{old} old Pods have not terminated")),
            () if available < updated => Self::Waiting(format!("{available} of {updated} Pods are available")),
            () => Self::Done,
        }
    }
}

/// Waits for the rollout of a Deployment. Returns the Deployment and the state of its rollout: done, failed, or still
/// waiting at the deadline. `progress` receives the reason for waiting.
pub fn await_rollout(
    kubectl: &Kubectl,
    deployment: &Object,
    deadline: Deadline,
    mut progress: impl FnMut(&str),
) -> Result<(Value, Rollout), KubectlError> {
    let get = [&["get", "deployments.apps", &deployment.name, "-o", "json"][..], &namespace(&deployment.namespace)];
    let get = get.concat();
    loop {
        let value = items(&kubectl.output(&get, "")?).into_iter().next().unwrap_or_default();
        match Rollout::of(&value) {
            Rollout::Waiting(why) if !deadline.has_passed() => progress(&why),
            rollout => return Ok((value, rollout)),
        }
        deadline.pause();
    }
}

/// The reasons in the Pods and events of a Deployment. Failing requests are ignored, because this explains another
/// error.
pub fn explain(kubectl: &Kubectl, deployment: &Value) -> Vec<String> {
    let get = |what: &[&str]| {
        let get =
            [&["get"], what, &["-o", "json"], &namespace(text_at(deployment, "/metadata/namespace"))[..]].concat();
        kubectl.output(&get, "").map(|output| items(&output)).unwrap_or_default()
    };
    let pods = get(&["pods", "-l", &pod_selector(deployment)]);
    let events = events(&get(&["events"]), text_at(deployment, "/metadata/name"));
    let events = events.into_iter().map(|event| format!("event {event}"));
    reasons(deployment, &pods).into_iter().chain(events).collect()
}

/// The arguments of kubectl for a namespace; none if it is empty.
fn namespace(name: &str) -> Vec<&str> {
    if name.is_empty() { Vec::new() } else { vec!["-n", name] }
}

/// The label selector of the Pods of a Deployment, in kubectl's syntax.
pub fn pod_selector(deployment: &Value) -> String {
    LabelSelector::of(&deployment["spec"]["selector"]).to_string()
}

/// The reasons why a Deployment has no Pods, or its Pods are not ready.
pub fn reasons(deployment: &Value, pods: &[Value]) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(["True", reason, message]) = condition(deployment, "ReplicaFailure") {
        reasons.push(with_message(reason, message));
    }
    for pod in pods {
        let name = text_at(pod, "/metadata/name");
        let mut because: Vec<String> = containers(pod);
        if because.is_empty()
            && let Some(["False", reason, message]) = condition(pod, "PodScheduled")
        {
            because.push(with_message(reason, message));
        }
        if because.is_empty()
            && let Some(["False", reason, message]) = condition(pod, "Ready")
        {
            because.push(with_message(reason, message));
        }
        reasons.extend(because.into_iter().map(|reason| format!("pod `{name}`: {reason}")));
    }
    reasons
}

/// The reasons for waiting containers, and their last exit codes.
fn containers(pod: &Value) -> Vec<String> {
    let statuses = ["/status/initContainerStatuses", "/status/containerStatuses"].map(|field| pod.pointer(field));
    let statuses = statuses.into_iter().flatten().filter_map(Value::as_array).flatten();
    let mut reasons = Vec::new();
    for status in statuses {
        let container = text_at(status, "/name");
        let (reason, message) = (text_at(status, "/state/waiting/reason"), text_at(status, "/state/waiting/message"));
        // The container waits for another one, which has a reason.
        if reason.is_empty() || matches!(reason, "PodInitializing" | "ContainerCreating") {
            continue;
        }
        let mut text = format!("container `{container}`: {}", with_message(reason, message));
        if let Some(code) = status.pointer("/lastState/terminated/exitCode") {
            text.push_str(&format!(
                " (it exited with code {code}, {})",
                text_at(status, "/lastState/terminated/reason")
            ));
        }
        reasons.push(text);
    }
    reasons
}

fn with_message(reason: &str, message: &str) -> String {
    if message.is_empty() { reason.into() } else { format!("{reason}: {message}") }
}

/// The last warnings about a Deployment, its ReplicaSets and Pods, newest last.
pub fn events(events: &[Value], deployment: &str) -> Vec<String> {
    let is_of = |event: &&Value| {
        let name = text_at(event, "/involvedObject/name");
        let rest = name.strip_prefix(deployment);
        text_at(event, "/type") == "Warning" && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    // RFC 3339, so sorting strings sorts by time. Events that occurred once have no series of times.
    let time = |event: &Value| {
        let fields = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"];
        fields.iter().map(|field| text_at(event, field)).find(|time| !time.is_empty()).unwrap_or_default().to_owned()
    };
    let mut warnings: Vec<&Value> = events.iter().filter(is_of).collect();
    warnings.sort_by_key(|event| time(event));
    let mut texts: Vec<String> = Vec::new();
    for event in warnings {
        let text = format!("{}: {}", text_at(event, "/reason"), text_at(event, "/message"));
        texts.retain(|earlier| *earlier != text);
        texts.push(text);
    }
    texts.split_off(texts.len().saturating_sub(LAST))
}

/// The maximum number of events.
const LAST: usize = 5;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rollout_ends_when_all_pods_are_new_and_available() {
        let rollout = |generation: i64, updated: i64, all: i64, available: i64| {
            Rollout::of(&json!({"metadata": {"generation": 2}, "spec": {"replicas": 2}, "status": {
                "observedGeneration": generation, "updatedReplicas": updated, "replicas": all, "availableReplicas": available}}))
        };
        assert_eq!(rollout(2, 2, 2, 2), Rollout::Done);
        let waits = [rollout(1, 2, 2, 2), rollout(2, 1, 2, 2), rollout(2, 2, 3, 3), rollout(2, 2, 2, 1)];
        assert!(waits.iter().all(|rollout| matches!(rollout, Rollout::Waiting(_))), "{waits:?}");
        let late = json!([{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "late"}]);
        assert_eq!(Rollout::of(&json!({"status": {"conditions": late}})), Rollout::Failed("late".into()));
    }

    #[test]
    fn reasons_are_those_of_containers_then_of_the_pod() {
        let pulling = json!({"metadata": {"name": "p"}, "status": {
            "containerStatuses": [{"name": "m", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}],
            "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": "m"}]}});
        let crashing = json!({"metadata": {"name": "q"}, "status": {"containerStatuses": [{"name": "m",
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}]}});
        let pending = json!({"metadata": {"name": "r"}, "status": {"conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}]}});
        let deployment = json!({"status": {"conditions": [
            {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "quota"}]}});
        assert_eq!(
            reasons(&deployment, &[pulling, crashing, pending]),
            [
                "FailedCreate: quota",
                "pod `p`: container `m`: ImagePullBackOff: no such image",
                "pod `q`: container `m`: CrashLoopBackOff (it exited with code 1, Error)",
                "pod `r`: Unschedulable: 0/1 nodes",
            ]
        );
    }

    #[test]
    fn events_are_the_last_warnings_about_it() {
        let event = |name: &str, kind: &str, time: &str, message: &str| json!({"involvedObject": {"name": name}, "type": kind, "lastTimestamp": time, "reason": "R", "message": message});
        let all = [
            event("d-1-a", "Warning", "2026-01-03T00:00:00Z", "late"),
            event("d", "Warning", "2026-01-02T00:00:00Z", "early"),
            event("d-1-a", "Warning", "2026-01-01T00:00:00Z", "late"),
            event("d", "Normal", "2026-01-04T00:00:00Z", "fine"),
            event("other", "Warning", "2026-01-04T00:00:00Z", "of another"),
        ];
        assert_eq!(events(&all, "d"), ["R: early", "R: late"]);
    }
}
