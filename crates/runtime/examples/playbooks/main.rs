//! An operator that runs an Ansible role for each `Page`, and a playbook for each `Note`.
//!
//! Run it with your own permissions against the cluster of your kubeconfig; it needs ansible-core, ansible-runner, the
//! Python package `kubernetes` and the collection kubernetes.core:
//!
//! ```sh
//! cargo run --example playbooks -- crds | kubectl apply --server-side -f -
//! cargo run --example playbooks -- --ansible-project examples/playbooks/ansible
//! ```
//!
//! `rbac.yaml` grants the permissions that it needs as a Pod.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{CustomResource, CustomResourceExt, KubeSchema};
use opctl_runtime::ansible::{AnsibleController, AnsibleStatus, Finalizer};
use opctl_runtime::{Manager, Operator, Runnable, crds};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A separate package uses `operator!()`: the name and version of the package.
const OPERATOR: Operator = Operator { name: "playbooks", version: "1.0.0" };

#[tokio::main]
async fn main() -> io::Result<ExitCode> {
    if std::env::args().nth(1).as_deref() == Some("crds") {
        crds::print(&definitions())?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(Manager::new(OPERATOR).run(vec![pages(), notes()]).await)
}

/// A page, with a ClusterRole for its readers.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[kube(group = "web.example.com", version = "v1", kind = "Page", namespaced, status = "AnsibleStatus")]
#[serde(rename_all = "camelCase")]
pub struct PageSpec {
    /// The text on the page.
    pub page_text: String,
    /// The number of servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    /// Fails after the text was written, for tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<bool>,
    /// Never ends, for tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hangs: Option<bool>,
}

/// A secret note.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[kube(group = "web.example.com", version = "v1", kind = "Note", namespaced, status = "AnsibleStatus")]
pub struct NoteSpec {
    /// The secret text.
    pub text: String,
}

fn definitions() -> Vec<CustomResourceDefinition> {
    vec![Page::crd(), Note::crd()]
}

/// The finalizer deletes the cluster-scoped object, which Kubernetes does not garbage-collect.
fn pages() -> Runnable {
    // For tests.
    let timeout = std::env::var("TIMEOUT").ok().and_then(|seconds| seconds.parse().ok());
    let timeout = timeout.map_or(Duration::from_secs(300), Duration::from_secs);
    AnsibleController::<Page>::role("page")
        .vars(json!({ "greeting": "{{ lookup('env', 'GREETING') | default('Hello', true) }}" }))
        .finalizer(Finalizer::new("web.example.com/readers").playbook("playbooks/cleanup.yml"))
        .timeout(timeout)
        .keep_runs(3)
        .into()
}

fn notes() -> Runnable {
    AnsibleController::<Note>::playbook("playbooks/note.yml").into()
}
