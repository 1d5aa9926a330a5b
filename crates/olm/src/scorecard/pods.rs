//! A test → the ConfigMap and the Pod that run it; the status and log of a Pod → progress and results. Source:
//! `testpod.go`, `run_test.go` and `storage.go` of operator-sdk's `internal/scorecard`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{State, Test, TestResult, TestStatus};

/// Settings of all Pods of a run.
#[derive(Clone, Debug)]
pub struct PodSettings {
    pub config_map: String,
    pub service_account: String,
    pub untar_image: String,
    pub storage_image: String,
    /// Runs under the Pod security standard `restricted`.
    pub restricted: bool,
}

pub const CONTAINER: &str = "scorecard-test";
pub const STORAGE: &str = "scorecard-storage";

/// A ConfigMap whose name the API server generates.
pub fn config_map(archive: &[u8]) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"generateName": "scorecard-test-", "labels": {"app": "scorecard-test"}},
        "binaryData": {"bundle.tar.gz": STANDARD.encode(archive)},
    })
}

pub fn pod(test: &Test, settings: &PodSettings) -> Value {
    let mount =
        |name: &str, path: &str, read_only: bool| json!({"name": name, "mountPath": path, "readOnly": read_only});
    let mut env =
        vec![json!({"name": "SCORECARD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}})];
    let mut mounts = vec![mount("scorecard-untar", "/bundle", true)];
    let mut volumes = vec![
        json!({"name": "scorecard-bundle", "configMap": {"name": settings.config_map}}),
        json!({"name": "scorecard-untar", "emptyDir": {}}),
    ];
    if let Some(path) = &test.storage {
        env.push(json!({"name": "SCORECARD_STORAGE", "value": path}));
        mounts.push(mount(STORAGE, path, false));
        volumes.push(json!({"name": STORAGE, "emptyDir": {}}));
    }
    let mut containers = vec![json!({
        "name": CONTAINER,
        "image": test.image,
        "imagePullPolicy": "IfNotPresent",
        "command": test.entrypoint,
        "env": env,
        "volumeMounts": mounts,
    })];
    if let Some(path) = &test.storage {
        containers.push(json!({
            "name": STORAGE,
            "image": settings.storage_image,
            "imagePullPolicy": "IfNotPresent",
            "command": ["/bin/sh", "-c", "trap 'echo TERM;exit 0' TERM;sleep 365d"],
            "volumeMounts": [mount(STORAGE, path, true)],
        }));
    }
    let mut init = json!({
        "name": "scorecard-untar",
        "image": settings.untar_image,
        "imagePullPolicy": "IfNotPresent",
        "args": ["tar", "xvzf", "/scorecard/bundle.tar.gz", "-C", "/scorecard-bundle"],
        "volumeMounts": [mount("scorecard-bundle", "/scorecard", true), mount("scorecard-untar", "/scorecard-bundle", false)],
    });
    let mut spec =
        json!({"serviceAccountName": settings.service_account, "restartPolicy": "Never", "volumes": volumes});
    if settings.restricted {
        spec["securityContext"] = json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}});
        for container in containers.iter_mut().chain([&mut init]) {
            container["securityContext"] =
                json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}});
        }
    }
    spec["initContainers"] = json!([init]);
    spec["containers"] = containers.into();
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": "scorecard-test-",
            "labels": {"app": "scorecard-test", "testrun": settings.config_map},
        },
        "spec": spec,
    })
}

/// The progress of a Pod.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    /// The test has run.
    Finished,
    /// A container has failed, so the test will not start.
    Failed {
        container: String,
        /// The exit code, and the reason in the status.
        how: String,
    },
    /// Contains the reason.
    Waits(String),
}

/// Determines the progress of a test in its Pod.
pub fn progress(pod: &Value) -> Progress {
    let statuses = |list: &str| pod["status"][list].as_array().cloned().unwrap_or_default();
    let all = statuses("containerStatuses");
    let test = all.iter().find(|status| status["name"] == CONTAINER);
    if test.is_some_and(|status| status["state"]["terminated"].is_object()) {
        return Progress::Finished;
    }
    let init = statuses("initContainerStatuses");
    let waits = init.iter().chain(&all).find_map(|status| {
        let waiting = &status["state"]["waiting"];
        let reason =
            waiting["reason"].as_str().filter(|reason| !["PodInitializing", "ContainerCreating"].contains(reason))?;
        let message = waiting["message"].as_str().map_or_else(String::new, |message| format!(": {message}"));
        Some(format!("the container `{}` waits: {reason}{message}", status["name"].as_str().unwrap_or_default()))
    });
    let is_failed = |status: &&Value| status["state"]["terminated"]["exitCode"].as_i64().is_some_and(|code| code != 0);
    if let Some(failed) = init.iter().find(is_failed) {
        let state = &failed["state"]["terminated"];
        let message = state["message"].as_str().map_or_else(String::new, |message| format!(": {message}"));
        return Progress::Failed {
            container: failed["name"].as_str().unwrap_or_default().to_owned(),
            how: format!("exit code {}{message}", state["exitCode"]),
        };
    }
    let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let unscheduled = || {
        let condition = conditions.iter().find(|it| it["type"] == "PodScheduled" && it["status"] == "False")?;
        Some(format!("the Pod is not scheduled: {}", condition["message"].as_str().unwrap_or_default()))
    };
    Progress::Waits(waits.or_else(unscheduled).unwrap_or_else(|| "the test has not finished".to_owned()))
}

/// Parses the output of a test.
pub fn results(log: &str) -> Vec<TestResult> {
    match serde_json::from_str::<TestStatus>(log) {
        Ok(TestStatus { results }) => results,
        Err(error) => {
            vec![TestResult::failed(State::Fail, format!("the log of the Pod is not a test result: {error}"), log)]
        }
    }
}
