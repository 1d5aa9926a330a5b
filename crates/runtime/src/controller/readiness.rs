//! Readiness of objects by the rules of kstatus, which `kubectl wait`-like tools, Flux and `helm --wait` follow:
//! <https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus>.

use serde::Deserialize;
use serde_json::{Value, json};

use super::received::Lenient;

/// The readiness of an object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Readiness {
    /// The object has reached the state that its spec describes.
    Current,
    /// The controller of the kind has not observed the current spec, so the status is outdated.
    Unobserved,
    /// The object has not yet reached the state that its spec describes, for this reason.
    InProgress(String),
    /// The object cannot reach that state without intervention, for this reason.
    Failed(String),
}

/// Computes the readiness of an object from its JSON.
///
/// Deployments, ReplicaSets, StatefulSets, DaemonSets, Pods, Jobs, PersistentVolumeClaims, PodDisruptionBudgets,
/// Services of type LoadBalancer and CustomResourceDefinitions have their own rules. For other kinds, the conditions
/// `Reconciling`, `Stalled` and `Ready` and the `observedGeneration` decide; an object without any of them is current.
///
/// Two rules are stricter than in kstatus: a failed Pod is not current, and a load balancer needs an address.
pub fn readiness(object: &Value) -> Readiness {
    if !object["metadata"]["deletionTimestamp"].is_null() {
        return Readiness::InProgress("it is being deleted".to_owned());
    }
    let group = object["apiVersion"].as_str().unwrap_or_default().split_once('/').map_or("", |(group, _)| group);
    let kind = object["kind"].as_str().unwrap_or_default();
    let (generation, observed) = (&object["metadata"]["generation"], &object["status"]["observedGeneration"]);
    if reports_generation(group, kind) && observed != generation {
        return Readiness::Unobserved;
    }
    if !observed.is_null() && observed != generation {
        return Readiness::InProgress(format!("its generation is {generation}, the observed one {observed}"));
    }
    let object = Object(object);
    if let Some(stalled) = object.is_true("Stalled") {
        return Readiness::Failed(message(stalled));
    }
    if let Some(reconciling) = object.is_true("Reconciling") {
        return Readiness::InProgress(message(reconciling));
    }
    match (group, kind) {
        ("apps", "Deployment") => object.deployment(),
        ("apps", "ReplicaSet") => object.replica_set(),
        ("apps", "StatefulSet") => object.stateful_set(),
        ("apps", "DaemonSet") => object.daemon_set(),
        ("batch", "Job") => object.job(),
        ("", "Pod") => object.pod(),
        ("", "PersistentVolumeClaim") => object.claim(),
        ("", "Service") => object.service(),
        ("policy", "PodDisruptionBudget") => object.budget(),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => object.definition(),
        _ => object.by_condition("Ready"),
    }
}

/// Extracts the fields that [`readiness`] reads, without `managedFields` and Pod templates, which are most of an
/// object.
pub(super) fn outline(api_version: &str, kind: &str, text: &str) -> serde_json::Result<Value> {
    #[derive(Deserialize)]
    struct Outline {
        metadata: Metadata,
        #[serde(default)]
        spec: Lenient<Spec>,
        #[serde(default)]
        status: Value,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata {
        generation: Option<i64>,
        deletion_timestamp: Option<String>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Spec {
        replicas: Value,
        update_strategy: Value,
        #[serde(rename = "type")]
        type_: Value,
        #[serde(rename = "externalIPs")]
        external_ips: Value,
    }
    let Outline { metadata, spec: Lenient(spec), status } = serde_json::from_str(text)?;
    Ok(json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": { "generation": metadata.generation, "deletionTimestamp": metadata.deletion_timestamp },
        "spec": {
            "replicas": spec.replicas,
            "updateStrategy": spec.update_strategy,
            "type": spec.type_,
            "externalIPs": spec.external_ips,
        },
        "status": status,
    }))
}

/// `true` if the built-in controller of this kind writes `observedGeneration` in every status.
pub(super) fn reports_generation(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        ("apps", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet") | ("policy", "PodDisruptionBudget")
    )
}

fn message(condition: &Value) -> String {
    let [reason, message] = ["reason", "message"].map(|field| condition[field].as_str().unwrap_or_default());
    if message.is_empty() { reason.to_owned() } else { message.to_owned() }
}

struct Object<'a>(&'a Value);

impl Object<'_> {
    fn spec(&self, field: &str, default: i64) -> i64 {
        self.0["spec"][field].as_i64().unwrap_or(default)
    }

    fn status(&self, field: &str) -> i64 {
        self.0["status"][field].as_i64().unwrap_or_default()
    }

    fn condition(&self, name: &str) -> Option<&Value> {
        self.0["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == name)
    }

    fn is_true(&self, name: &str) -> Option<&Value> {
        self.condition(name).filter(|condition| condition["status"] == "True")
    }

    fn by_condition(&self, name: &str) -> Readiness {
        match self.condition(name) {
            Some(condition) if condition["status"] != "True" => Readiness::InProgress(message(condition)),
            _ => Readiness::Current,
        }
    }

    /// The rules of `kubectl rollout status`.
    fn deployment(&self) -> Readiness {
        let late = self.condition("Progressing").filter(|it| it["reason"] == "ProgressDeadlineExceeded");
        if let Some(late) = late {
            return Readiness::Failed(message(late));
        }
        let wanted = self.spec("replicas", 1);
        let [total, updated, available] =
            ["replicas", "updatedReplicas", "availableReplicas"].map(|field| self.status(field));
        let is_done = [total, updated, available] == [wanted; 3];
        progress(is_done, || format!("{updated} of {wanted} replicas are up to date, {available} available"))
    }

    fn replica_set(&self) -> Readiness {
        if let Some(failure) = self.is_true("ReplicaFailure") {
            return Readiness::InProgress(message(failure));
        }
        let wanted = self.spec("replicas", 1);
        let [total, available] = ["replicas", "availableReplicas"].map(|field| self.status(field));
        progress([total, available] == [wanted; 2], || format!("{available} of {wanted} replicas are available"))
    }

    fn stateful_set(&self) -> Readiness {
        let (strategy, status) = (&self.0["spec"]["updateStrategy"], &self.0["status"]);
        if strategy["type"] == "OnDelete" {
            return Readiness::Current;
        }
        let wanted = self.spec("replicas", 1);
        let [total, ready, updated] = ["replicas", "readyReplicas", "updatedReplicas"].map(|field| self.status(field));
        let is_updated = match strategy["rollingUpdate"]["partition"].as_i64() {
            Some(partition @ 1..) => updated >= wanted - partition,
            _ => updated >= wanted && status["currentRevision"] == status["updateRevision"],
        };
        progress(total == wanted && ready == wanted && is_updated, || {
            format!("{updated} of {wanted} replicas are up to date, {ready} ready")
        })
    }

    fn daemon_set(&self) -> Readiness {
        let [wanted, updated, available] =
            ["desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable"].map(|field| self.status(field));
        progress(updated >= wanted && available >= wanted, || {
            format!("{updated} of {wanted} nodes are up to date, {available} available")
        })
    }

    fn job(&self) -> Readiness {
        match self.is_true("Failed") {
            Some(failed) => Readiness::Failed(message(failed)),
            // A running or suspended Job is current.
            None => {
                let is_suspended = self.is_true("Suspended").is_some();
                progress(is_suspended || !self.0["status"]["startTime"].is_null(), || "it has not started".to_owned())
            }
        }
    }

    fn pod(&self) -> Readiness {
        let status = &self.0["status"];
        match status["phase"].as_str() {
            Some("Succeeded") => Readiness::Current,
            Some("Failed") => Readiness::Failed(status["message"].as_str().unwrap_or("it failed").to_owned()),
            Some("Running") if self.is_true("Ready").is_some() => Readiness::Current,
            Some("Running") => {
                let containers = status["containerStatuses"].as_array().into_iter().flatten();
                let mut crashing =
                    containers.filter(|container| container["state"]["waiting"]["reason"] == "CrashLoopBackOff");
                match crashing.next() {
                    Some(container) => Readiness::Failed(format!(
                        "its container {} crashes again and again",
                        container["name"].as_str().unwrap_or_default()
                    )),
                    None => Readiness::InProgress("it is running, but not ready".to_owned()),
                }
            }
            phase => {
                let unscheduled = self.condition("PodScheduled").filter(|it| it["status"] == "False");
                Readiness::InProgress(match unscheduled {
                    Some(unscheduled) => message(unscheduled),
                    None => format!("it is {}", phase.unwrap_or("Pending")),
                })
            }
        }
    }

    fn claim(&self) -> Readiness {
        let phase = self.0["status"]["phase"].as_str().unwrap_or("unknown");
        progress(phase == "Bound", || format!("its phase is {phase}, not Bound"))
    }

    fn service(&self) -> Readiness {
        let (spec, ingress) = (&self.0["spec"], &self.0["status"]["loadBalancer"]["ingress"]);
        let has_some = |list: &Value| list.as_array().is_some_and(|list| !list.is_empty());
        let is_done = spec["type"] != "LoadBalancer" || has_some(ingress) || has_some(&spec["externalIPs"]);
        progress(is_done, || "its load balancer has no address".to_owned())
    }

    fn budget(&self) -> Readiness {
        let [healthy, wanted] = ["currentHealthy", "desiredHealthy"].map(|field| self.status(field));
        progress(healthy >= wanted, || format!("{healthy} of {wanted} Pods are healthy"))
    }

    fn definition(&self) -> Readiness {
        match self.condition("NamesAccepted").filter(|it| it["status"] == "False") {
            Some(refused) => Readiness::Failed(message(refused)),
            None => progress(self.is_true("Established").is_some(), || "it is not established".to_owned()),
        }
    }
}

fn progress(is_done: bool, otherwise: impl FnOnce() -> String) -> Readiness {
    if is_done { Readiness::Current } else { Readiness::InProgress(otherwise()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(api_version: &str, kind: &str, spec: Value, status: Value) -> Readiness {
        let metadata = json!({ "name": "sample", "generation": 2 });
        let object = json!({ "metadata": metadata, "spec": spec, "status": status }).to_string();
        readiness(&outline(api_version, kind, &object).unwrap())
    }

    #[test]
    fn a_deployment_is_current_when_every_replica_is_updated_and_available() {
        let deployment = |status| of("apps/v1", "Deployment", json!({ "replicas": 3 }), status);
        assert_eq!(deployment(json!({})), Readiness::Unobserved);
        assert_eq!(deployment(json!({ "observedGeneration": 1, "replicas": 3 })), Readiness::Unobserved);
        let on_its_way =
            deployment(json!({ "observedGeneration": 2, "replicas": 4, "updatedReplicas": 2, "availableReplicas": 3 }));
        let message = "2 of 3 replicas are up to date, 3 available".to_owned();
        assert_eq!(on_its_way, Readiness::InProgress(message));
        let late = json!([{ "type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "late" }]);
        assert_eq!(
            deployment(json!({ "observedGeneration": 2, "conditions": late })),
            Readiness::Failed("late".to_owned())
        );
        let done = json!({ "observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3 });
        assert_eq!(deployment(done), Readiness::Current);
    }

    #[test]
    fn kinds_without_a_rule_go_by_their_conditions() {
        let other = |status| of("example.com/v1", "Widget", json!({}), status);
        assert_eq!(other(json!({})), Readiness::Current);
        let old = "its generation is 2, the observed one 1".to_owned();
        assert_eq!(other(json!({ "observedGeneration": 1 })), Readiness::InProgress(old));
        let condition = |name, status| json!({ "conditions": [{ "type": name, "status": status, "reason": "Why", "message": "" }] });
        assert_eq!(other(condition("Ready", "False")), Readiness::InProgress("Why".to_owned()));
        assert_eq!(other(condition("Ready", "True")), Readiness::Current);
        assert_eq!(other(condition("Stalled", "True")), Readiness::Failed("Why".to_owned()));
        assert_eq!(other(condition("Reconciling", "True")), Readiness::InProgress("Why".to_owned()));
    }

    #[test]
    fn pods_jobs_claims_and_services_have_rules_of_their_own() {
        assert_eq!(of("v1", "Pod", json!({}), json!({ "phase": "Succeeded" })), Readiness::Current);
        assert!(matches!(of("v1", "Pod", json!({}), json!({ "phase": "Pending" })), Readiness::InProgress(_)));
        assert_eq!(
            of("batch/v1", "Job", json!({}), json!({ "startTime": "2026-01-01T00:00:00Z" })),
            Readiness::Current
        );
        let failed =
            json!({ "conditions": [{ "type": "Failed", "status": "True", "message": "BackoffLimitExceeded" }] });
        assert_eq!(of("batch/v1", "Job", json!({}), failed), Readiness::Failed("BackoffLimitExceeded".to_owned()));
        assert_eq!(of("v1", "PersistentVolumeClaim", json!({}), json!({ "phase": "Bound" })), Readiness::Current);
        assert_eq!(of("v1", "Service", json!({ "type": "ClusterIP" }), json!({})), Readiness::Current);
        assert!(matches!(of("v1", "Service", json!({ "type": "LoadBalancer" }), json!({})), Readiness::InProgress(_)));
        let crashing = json!({ "phase": "Running", "containerStatuses": [
            { "name": "web", "state": { "waiting": { "reason": "CrashLoopBackOff" } } },
        ] });
        let why = "its container web crashes again and again".to_owned();
        assert_eq!(of("v1", "Pod", json!({}), crashing), Readiness::Failed(why));
        let stateful = |strategy, status| {
            of("apps/v1", "StatefulSet", json!({ "replicas": 3, "updateStrategy": strategy }), status)
        };
        let status = json!({ "observedGeneration": 2, "replicas": 3, "readyReplicas": 3, "updatedReplicas": 1,
            "currentRevision": "a", "updateRevision": "b" });
        assert!(matches!(stateful(json!({}), status.clone()), Readiness::InProgress(_)));
        assert_eq!(stateful(json!({ "rollingUpdate": { "partition": 2 } }), status.clone()), Readiness::Current);
        assert_eq!(stateful(json!({ "type": "OnDelete" }), status), Readiness::Current);
        let definition = |name, status| {
            let conditions = json!([{ "type": name, "status": status, "message": "taken" }]);
            of("apiextensions.k8s.io/v1", "CustomResourceDefinition", json!({}), json!({ "conditions": conditions }))
        };
        assert_eq!(definition("Established", "True"), Readiness::Current);
        assert_eq!(definition("NamesAccepted", "False"), Readiness::Failed("taken".to_owned()));
        assert!(matches!(definition("NamesAccepted", "True"), Readiness::InProgress(_)));
        assert_eq!(of("v1", "ConfigMap", json!({}), Value::Null), Readiness::Current);
    }
}
