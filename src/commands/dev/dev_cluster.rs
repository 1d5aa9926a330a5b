//! Prepares the development cluster and the operator's service account for `opctl dev`.
//!
//! The operator uses a token of its service account, not the permissions of the user as with `make run`. In addition to
//! its own role, it has a role that permits it to register its webhooks with the address of this machine.

use std::path::PathBuf;

use opctl_testenv::{Environment, Scratch};
use serde_json::json;

use super::DevArgs;
use crate::commands::on_cluster::Cluster;
use crate::commands::testenv::failed;
use crate::commands::{Console, kubectl};
use crate::error::UserError;
use opctl_cluster::{self as cluster, Kubectl, Object};
use opctl_model::names::ProjectName;

/// The operator's kubeconfig, in the folder of the cluster.
pub const KUBECONFIG: &str = "operator.kubeconfig";

/// A temporary test environment, or the cluster of a kubeconfig context with a folder for temporary files.
pub enum DevCluster {
    Local(Box<Environment>),
    Existing(String, Scratch),
}

impl DevCluster {
    pub fn scratch(&mut self) -> &mut Scratch {
        match self {
            Self::Local(environment) => environment.scratch(),
            Self::Existing(_, scratch) => scratch,
        }
    }

    /// kubectl as the administrator of a test environment, or as the user.
    pub fn kubectl(&self, args: &DevArgs) -> Kubectl {
        let kubectl = |context| kubectl::find(args.program.kubectl.as_deref(), context);
        match self {
            Self::Local(environment) => {
                let mut kubectl = Kubectl { kubeconfig: Some(environment.kubeconfig()), ..kubectl(None) };
                if args.program.kubectl.is_none()
                    && let Some(own) = environment.assets().program("kubectl")
                {
                    kubectl.program = own;
                }
                kubectl
            }
            Self::Existing(context, _) => Kubectl { kubeconfig: args.kubeconfig.clone(), ..kubectl(Some(context)) },
        }
    }
}

/// The service account of the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub namespace: String,
    pub name: String,
}

impl Account {
    /// The service account of the Deployment in `objects`.
    pub fn of(objects: &[Object]) -> anyhow::Result<Self> {
        let account = |object: &Object| {
            let name = object.service_account.clone()?;
            Some(Self { namespace: object.namespace.clone(), name })
        };
        objects.iter().find_map(account).ok_or_else(|| {
            UserError::new("no Deployment in `config/default` sets a service account for the operator")
                .help("`serviceAccountName` in `config/manager/manager.yaml` names it")
                .into()
        })
    }

    /// A kubeconfig that contains only a token of the service account.
    pub fn kubeconfig(&self, kubectl: &Kubectl, scratch: &Scratch, console: &Console) -> anyhow::Result<PathBuf> {
        let cluster = Cluster::with(kubectl.clone(), console);
        // The token outlasts a working day.
        let token = ["create", "token", &self.name, "--namespace", &self.namespace, "--duration", "24h"];
        let token = kubectl
            .output(&token, "")
            .map_err(|error| cluster.failure("make a token of the service account", &error))?;
        let view = ["config", "view", "--minify", "--flatten", "--raw", "-o", "json"];
        let view = kubectl.output(&view, "").map_err(|error| cluster.failure("read the kubeconfig", &error))?;
        let mut view = cluster::items(&view).into_iter().next().unwrap_or_default();
        view["users"] = json!([{ "name": "operator", "user": { "token": token.trim() } }]);
        view["contexts"][0]["context"]["user"] = json!("operator");
        scratch.write(KUBECONFIG, &view.to_string()).map_err(failed)
    }

    /// A role that permits what `make run` can do and the operator's own role does not grant: to register webhooks with
    /// an address outside of the cluster.
    pub fn registration(&self, project: &ProjectName) -> anyhow::Result<Vec<Object>> {
        let (namespace, account) = (&self.namespace, &self.name);
        let text = format!(
            "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {project}-opctl-dev
rules:
- apiGroups: [admissionregistration.k8s.io]
  resources: [mutatingwebhookconfigurations, validatingwebhookconfigurations]
  verbs: [create, delete, get, patch]
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [get, patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {project}-opctl-dev
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {project}-opctl-dev
subjects:
- kind: ServiceAccount
  name: {account}
  namespace: {namespace}
"
        );
        Ok(cluster::objects(&text)?)
    }
}
