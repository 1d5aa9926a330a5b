//! How far an object is, by the rules of kstatus, which `kubectl wait`-like tools, Flux and `helm --wait` follow:
//! <https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus>.

use serde_json::Value;

/// How far an object is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Readiness {
    /// It is what its spec asks for.
    Current,
    /// The controller of its kind has not seen its spec yet: nothing is known.
    Unobserved,
    /// It is on its way.
    InProgress(String),
    /// It will not get further without help.
    Failed(String),
}

/// How far this object is, as the API server sent it.
///
/// Deployments, ReplicaSets, StatefulSets, DaemonSets, Pods, Jobs, PersistentVolumeClaims, PodDisruptionBudgets, Services of type
/// LoadBalancer and CustomResourceDefinitions have rules of their own. Of other kinds, the conditions `Reconciling`, `Stalled` and `Ready`
/// and the `observedGeneration` count; an object without any of them is current.
pub fn readiness(object: &Value) -> Readiness {
    if !object["metadata"]["deletionTimestamp"].is_null() {
        return Readiness::InProgress("it is being deleted".to_owned());
    }
    let group = object["apiVersion"].as_str().unwrap_or_default().split_once('/').map_or("", |(group, _)| group);
    let kind = object["kind"].as_str().unwrap_or_default();
    if !is_observed(object, group, kind) {
        return Readiness::Unobserved;
    }
    let object = Object(object);
    if let Some(stalled) = object.condition("Stalled").filter(|it| it["status"] == "True") {
        return Readiness::Failed(message(stalled));
    }
    if let Some(reconciling) = object.condition("Reconciling").filter(|it| it["status"] == "True") {
        return Readiness::InProgress(message(reconciling));
    }
    match (group, kind) {
        ("apps", "Deployment") => object.deployment(),
        ("apps", "ReplicaSet") => object.replicas("availableReplicas"),
        ("apps", "StatefulSet") => object.stateful_set(),
        ("apps", "DaemonSet") => object.daemon_set(),
        ("batch", "Job") => object.job(),
        ("", "Pod") => object.pod(),
        ("", "PersistentVolumeClaim") => object.phase("Bound"),
        ("", "Service") => object.service(),
        ("policy", "PodDisruptionBudget") => object.budget(),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => object.by_condition("Established"),
        _ => object.by_condition("Ready"),
    }
}

/// Whether the status is about the present spec.
pub(super) fn is_observed(object: &Value, group: &str, kind: &str) -> bool {
    let observed = &object["status"]["observedGeneration"];
    let generation = &object["metadata"]["generation"];
    match observed.is_null() {
        // Their controllers always say so, so there was none yet.
        true => !reports_generation(group, kind) || generation.is_null(),
        false => observed == generation,
    }
}

/// Whether Kubernetes' own controller of this kind writes an `observedGeneration` into each status.
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

    fn by_condition(&self, name: &str) -> Readiness {
        match self.condition(name) {
            Some(condition) if condition["status"] != "True" => Readiness::InProgress(message(condition)),
            _ => Readiness::Current,
        }
    }

    fn phase(&self, wanted: &str) -> Readiness {
        match self.0["status"]["phase"].as_str() {
            Some(phase) if phase == wanted => Readiness::Current,
            phase => Readiness::InProgress(format!("its phase is {}, not {wanted}", phase.unwrap_or("unknown"))),
        }
    }

    fn replicas(&self, available: &str) -> Readiness {
        let wanted = self.spec("replicas", 1);
        let failure = self.condition("ReplicaFailure").filter(|it| it["status"] == "True");
        let [total, available] = ["replicas", available].map(|field| self.status(field));
        if let Some(failure) = failure {
            return Readiness::Failed(message(failure));
        }
        progress(total == wanted && available >= wanted, || format!("{available} of {wanted} replicas are available"))
    }

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

    fn stateful_set(&self) -> Readiness {
        let wanted = self.spec("replicas", 1);
        let [total, ready, updated] = ["replicas", "readyReplicas", "updatedReplicas"].map(|field| self.status(field));
        let partition = self.0["spec"]["updateStrategy"]["rollingUpdate"]["partition"].as_i64().unwrap_or_default();
        let on_delete = self.0["spec"]["updateStrategy"]["type"] == "OnDelete";
        let is_updated = on_delete || updated >= wanted - partition;
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
        match self.condition("Failed").filter(|it| it["status"] == "True") {
            Some(failed) => Readiness::Failed(message(failed)),
            // A Job that runs is what was asked for.
            None => progress(!self.0["status"]["startTime"].is_null(), || "it has not started".to_owned()),
        }
    }

    fn pod(&self) -> Readiness {
        match self.0["status"]["phase"].as_str() {
            Some("Succeeded") => Readiness::Current,
            Some("Failed") => Readiness::Failed(self.0["status"]["message"].as_str().unwrap_or("it failed").to_owned()),
            Some("Running") => self.by_condition("Ready"),
            phase => Readiness::InProgress(format!("it is {}", phase.unwrap_or("Pending"))),
        }
    }

    fn service(&self) -> Readiness {
        let waits = self.0["spec"]["type"] == "LoadBalancer" && self.0["status"]["loadBalancer"]["ingress"].is_null();
        progress(!waits, || "its load balancer has no address".to_owned())
    }

    fn budget(&self) -> Readiness {
        let [healthy, wanted] = ["currentHealthy", "desiredHealthy"].map(|field| self.status(field));
        progress(healthy >= wanted, || format!("{healthy} of {wanted} Pods are healthy"))
    }
}

fn progress(is_done: bool, otherwise: impl FnOnce() -> String) -> Readiness {
    if is_done { Readiness::Current } else { Readiness::InProgress(otherwise()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(api_version: &str, kind: &str, spec: Value, status: Value) -> Readiness {
        let metadata = json!({ "name": "sample", "generation": 2 });
        readiness(
            &json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec, "status": status }),
        )
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
        assert_eq!(other(json!({ "observedGeneration": 1 })), Readiness::Unobserved);
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
        assert_eq!(of("v1", "ConfigMap", json!({}), Value::Null), Readiness::Current);
    }
}
