//! Waits for the rollout of Deployments, and explains why a rollout does not complete.

use serde_json::Value;

use super::Cluster;
use crate::error::{ExternalError, UserError};
use opctl_cluster::{self as cluster, Deadline, Object, Rollout};

impl Cluster<'_> {
    /// Waits until all Pods of a Deployment are updated and available.
    pub fn await_rollout(&self, deployment: &Object, deadline: Deadline) -> Result<(), ExternalError> {
        let mut progress = self.console.progress();
        let waiting = |why: &str| progress.show(&format!("waiting for {deployment}: {why}"));
        let rollout = cluster::await_rollout(&self.kubectl, deployment, deadline, waiting);
        drop(progress);
        let (value, rollout) = rollout.map_err(|error| self.failure("read the Deployment", &error))?;
        let why = match rollout {
            Rollout::Done => {
                self.console.info(&format!("{deployment} is rolled out"));
                return Ok(());
            }
            Rollout::Waiting(why) => format!("is not done after {}: {why}", self.timeout_argument),
            Rollout::Failed(why) => format!("has failed: {why}"),
        };
        Err(ExternalError(self.stuck(deployment, &value, &why)))
    }

    /// The error for a rollout that does not complete, with the reasons that the cluster reports.
    fn stuck(&self, deployment: &Object, value: &Value, why: &str) -> UserError {
        let mut message = format!("the rollout of {deployment} {why}");
        for reason in cluster::explain(&self.kubectl, value) {
            message.push_str(&format!("\n  {reason}"));
        }
        let namespace: &[&str] =
            if deployment.namespace.is_empty() { &[] } else { &["-n", deployment.namespace.as_str()] };
        let shown = |command: &[&str]| self.kubectl.shown(&[command, namespace].concat());
        UserError::new(message)
            .help(format!("look further: `{}`", shown(&["describe", "pods", "-l", &cluster::pod_selector(value)])))
            .help(format!("its logs: `{}`", shown(&["logs", &format!("deployment/{}", deployment.name), "--tail=50"])))
            .help("the applied resources are kept; fix this and run the command again")
    }
}
