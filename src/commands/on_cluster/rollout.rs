//! Waits for the rollout of Deployments, and explains why one does not complete.

use opctl_model::selector::LabelSelector;
use serde_json::Value;

use super::Cluster;
use crate::cluster::{self, Deadline, Object, Rollout};
use crate::commands::error::{Failed, Refusal};

impl Cluster<'_> {
    /// Waits until all Pods of a Deployment are new and available.
    pub fn await_rollout(&self, deployment: &Object, deadline: Deadline) -> anyhow::Result<()> {
        let mut progress = self.console.progress();
        let get = [&["get", "deployments.apps", &deployment.name, "-o", "json"][..], &namespace(&deployment.namespace)];
        let get = get.concat();
        loop {
            let output = self.kubectl.output(&get, "").map_err(|error| self.failure("read the Deployment", &error))?;
            let value = cluster::items(&output).into_iter().next().unwrap_or_default();
            let why = match Rollout::of(&value) {
                Rollout::Done => {
                    drop(progress);
                    self.console.info(&format!("{deployment} is rolled out"));
                    return Ok(());
                }
                Rollout::Waiting(why) if !deadline.has_passed() => {
                    progress.show(&format!("waiting for {deployment}: {why}"));
                    deadline.pause();
                    continue;
                }
                Rollout::Waiting(why) => format!("is not done after {}: {why}", self.timeout_argument),
                Rollout::Failed(why) => format!("has failed: {why}"),
            };
            drop(progress);
            return Err(Failed(self.stuck(deployment, &value, &why)).into());
        }
    }

    /// Why a rollout does not end, as far as the cluster tells it.
    fn stuck(&self, deployment: &Object, value: &Value, why: &str) -> Refusal {
        let mut message = format!("the rollout of {deployment} {why}");
        for reason in self.reasons(value) {
            message.push_str(&format!("\n  {reason}"));
        }
        let namespace = namespace(&deployment.namespace);
        let shown = |command: &[&str]| self.kubectl.shown(&[command, &namespace[..]].concat());
        Refusal::new(message)
            .help(format!("look further: `{}`", shown(&["describe", "pods", "-l", &selector(value)])))
            .help(format!("its logs: `{}`", shown(&["logs", &format!("deployment/{}", deployment.name), "--tail=50"])))
            .help("the applied resources are kept; fix this and run the command again")
    }

    /// What its Pods and events say of a Deployment. This is an answer to an error: what cannot be read adds nothing to it.
    pub fn reasons(&self, deployment: &Value) -> Vec<String> {
        let text = |pointer: &str| deployment.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let items = |get: &[&str]| {
            let get = [&["get"], get, &["-o", "json"], &namespace(text("/metadata/namespace"))[..]].concat();
            self.kubectl.output(&get, "").map(|output| cluster::items(&output)).unwrap_or_default()
        };
        let pods = items(&["pods", "-l", &selector(deployment)]);
        let events = cluster::events(&items(&["events"]), text("/metadata/name"));
        let events = events.into_iter().map(|event| format!("event {event}"));
        cluster::reasons(deployment, &pods).into_iter().chain(events).collect()
    }
}

/// kubectl's arguments for a namespace, if there is one.
fn namespace(name: &str) -> Vec<&str> {
    if name.is_empty() { Vec::new() } else { vec!["-n", name] }
}

/// The labels of its Pods.
fn selector(deployment: &Value) -> String {
    LabelSelector::of(&deployment["spec"]["selector"]).to_string()
}
