//! A package in a namespace of a cluster: reads and applies its objects, and waits for OLM.

use serde_json::Value;

use super::source::Source;
use crate::commands::Console;
use crate::commands::on_cluster::{Cluster, ConnectionArgs};
use crate::error::{ExternalError, UserError};
use opctl_cluster::{self as cluster, Crd, Deadline, KubectlError, Object, Rollout, State};
use opctl_model::names::Namespace;
use opctl_olm as olm;

pub struct Session<'a> {
    pub cluster: Cluster<'a>,
    /// The namespace, which exists.
    pub namespace: String,
    pub deadline: Deadline,
    /// The timeout, as given by the user.
    pub timeout: &'a str,
}

/// The versions of OLM in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Olm {
    pub v0: bool,
    pub v1: bool,
}

/// The CRDs that identify the versions of OLM.
pub const SUBSCRIPTIONS: &str = "subscriptions.operators.coreos.com";
pub const EXTENSIONS: &str = "clusterextensions.olm.operatorframework.io";

impl<'a> Session<'a> {
    /// Connects to the cluster. Without `namespace`, uses the namespace of the kubeconfig.
    pub fn start(
        connection: &'a ConnectionArgs,
        namespace: Option<&str>,
        command: &str,
        console: &'a Console,
    ) -> anyhow::Result<Self> {
        let namespace = namespace.map(Namespace::parse).transpose().map_err(UserError::from)?;
        let cluster = Cluster::of(connection, command, console)?;
        cluster.connect()?;
        let namespace = match namespace {
            Some(namespace) => namespace.to_string(),
            None => cluster.current_namespace(),
        };
        let deadline = Deadline::after(cluster.timeout);
        let session = Self { cluster, namespace, deadline, timeout: &connection.timeout };
        if session.get("namespace", &session.namespace)?.is_none() {
            let namespace = &session.namespace;
            let refusal = UserError::new(format!("there is no namespace `{namespace}`"));
            return Err(
                ExternalError(refusal.help(format!("create it: `kubectl create namespace {namespace}`"))).into()
            );
        }
        Ok(session)
    }

    pub fn olm(&self) -> anyhow::Result<Olm> {
        let crds = Crd::all(&self.cluster.kubectl, &[SUBSCRIPTIONS, EXTENSIONS].map(String::from))
            .map_err(|error| self.failed("read the CRDs of OLM", &error))?;
        let has = |name: &str| crds.iter().any(|crd| crd.name == name && crd.state == State::Served);
        Ok(Olm { v0: has(SUBSCRIPTIONS), v1: has(EXTENSIONS) })
    }

    fn failed(&self, purpose: &str, error: &KubectlError) -> anyhow::Error {
        self.cluster.failure(purpose, error).into()
    }

    /// An object; `None` if it does not exist. The namespace is ignored for cluster-scoped kinds.
    pub fn get(&self, kind: &str, name: &str) -> anyhow::Result<Option<Value>> {
        Ok(self.items(&[kind, name, "--ignore-not-found"])?.into_iter().next())
    }

    /// Like [`get`](Self::get), but returns null for a missing object.
    pub fn read(&self, kind: &str, name: &str) -> anyhow::Result<Value> {
        Ok(self.get(kind, name)?.unwrap_or_default())
    }

    /// All objects of a kind in the namespace, with these labels.
    pub fn list(&self, kind: &str, selector: &str) -> anyhow::Result<Vec<Value>> {
        self.items(&[kind, "-l", selector])
    }

    pub fn items(&self, arguments: &[&str]) -> anyhow::Result<Vec<Value>> {
        let get = [&["get"], arguments, &["-n", &self.namespace, "-o", "json"]].concat();
        let output = self.cluster.kubectl.output(&get, "");
        let output = output.map_err(|error| self.failed(&format!("read {}", arguments[0]), &error))?;
        Ok(cluster::items(&output))
    }

    pub fn apply(&self, values: &[Value]) -> anyhow::Result<()> {
        let objects = objects(values);
        self.cluster.apply(&objects.iter().collect::<Vec<_>>())
    }

    /// Deletes objects by name, grouped by kind. Missing objects are skipped.
    pub fn delete(&self, values: &[Value]) -> anyhow::Result<()> {
        let objects = objects(values);
        self.cluster.delete(&objects.iter().collect::<Vec<_>>())
    }

    /// Deletes all objects of a kind in the cluster, and waits until they are gone.
    pub fn delete_all(&self, kind: &str) -> anyhow::Result<()> {
        let timeout = format!("--timeout={}s", self.cluster.timeout.as_secs().max(1));
        let delete = ["delete", kind, "--all", "--all-namespaces", &timeout];
        let deleted = self.cluster.kubectl.output(&delete, "");
        deleted.map(drop).map_err(|error| self.failed(&format!("delete all objects of {kind}"), &error))
    }

    /// Changes fields of an object.
    pub fn patch(&self, kind: &str, name: &str, patch: &Value) -> anyhow::Result<()> {
        let patch = ["patch", kind, name, "-n", &self.namespace, "--type=merge", "-p", &patch.to_string()];
        let patched = self.cluster.kubectl.output(&patch, "");
        patched.map(drop).map_err(|error| self.failed(&format!("change {kind} `{name}`"), &error))
    }

    /// Waits until `look` reports that `what` is done. If it fails or the time limit is exceeded, the error contains
    /// the lines of `explain`.
    pub fn wait(
        &self,
        what: &str,
        mut look: impl FnMut() -> anyhow::Result<Rollout>,
        explain: impl Fn() -> Vec<String>,
    ) -> anyhow::Result<()> {
        let mut progress = self.cluster.console.progress();
        let why = loop {
            match look()? {
                Rollout::Done => return Ok(()),
                Rollout::Waiting(why) if !self.deadline.has_passed() => {
                    progress.show(&format!("waiting for {what}: {}", why.lines().next().unwrap_or_default()));
                    self.deadline.pause();
                }
                Rollout::Waiting(why) => break format!("{what} is not ready after {}: {why}", self.timeout),
                Rollout::Failed(why) => break format!("{what} has failed: {why}"),
            }
        };
        drop(progress);
        let lines: String = explain().iter().map(|line| format!("\n  {line}")).collect();
        Err(ExternalError(UserError::new(why + &lines)).into())
    }

    /// The problems that the Deployments of a bundle report, for an error.
    pub fn reasons(&self, source: &Source) -> Vec<String> {
        let deployment = |name: &&str| self.get("deployments.apps", name).ok().flatten();
        let deployments: Vec<Value> = source.deployments().iter().filter_map(deployment).collect();
        deployments.iter().flat_map(|deployment| cluster::explain(&self.cluster.kubectl, deployment)).collect()
    }

    /// The command that removes a package.
    pub fn cleanup(&self, package: &str) -> String {
        format!("opctl cleanup {package} --namespace {}", self.namespace)
    }

    /// Prints a completed step.
    pub fn done(&self, text: &str) {
        self.cluster.console.info(text);
    }
}

/// Converts values to objects of a manifest.
pub fn objects(values: &[Value]) -> Vec<Object> {
    cluster::objects(&olm::documents("", values)).expect("values with names are objects")
}
