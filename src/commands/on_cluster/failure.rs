//! Turns errors of kubectl and kustomize into messages with help.

use super::Cluster;
use crate::error::{ExternalError, UserError};
use crate::rendered::{PLACEHOLDER_TAGGED, RenderError};
use opctl_cluster::connection::ConnectionError;
use opctl_cluster::{FailureCause, KubectlError};

impl Cluster<'_> {
    /// The error message if the cluster cannot be used.
    pub fn connection_failure(&self, error: &ConnectionError) -> ExternalError {
        match error {
            ConnectionError::UnknownContext(_) => {
                let refusal = UserError::new(error.to_string());
                ExternalError(refusal.help("`kubectl config get-contexts` lists those that it has"))
            }
            ConnectionError::Unreachable { error, has_context } => {
                ExternalError(unreachable(error, *has_context, self.prints))
            }
            ConnectionError::Failed { purpose, error } => self.failure(purpose, error),
        }
    }

    /// The error message if kubectl cannot `purpose`.
    pub fn failure(&self, purpose: &str, error: &KubectlError) -> ExternalError {
        ExternalError(match error.cause() {
            FailureCause::NoKubectl => no_kubectl(error),
            FailureCause::Unreachable => unreachable(error, true, self.prints),
            FailureCause::Unauthorized => UserError::new(format!(
                "cannot {purpose}: the cluster does not accept this user: {}",
                message(error)
            ))
            .help("log in again, or choose another one with `--context`; `kubectl config get-contexts` lists them"),
            FailureCause::Credentials => {
                UserError::new(format!("cannot {purpose}: kubectl gets no credentials: {}", error.reason()))
                    .help("install or repair the program that `exec` names in the kubeconfig, or choose another context with `--context`")
            }
            FailureCause::Kubeconfig => {
                UserError::new(format!("cannot {purpose}: kubectl cannot use the kubeconfig: {}", error.reason()))
                    .help("repair the kubeconfig, or choose another one with `--kubeconfig` or another context with `--context`")
            }
            FailureCause::Forbidden(denials) => {
                let list: Vec<String> = denials.iter().map(ToString::to_string).collect();
                let message = match &list[..] {
                    [one] => format!("cannot {purpose}: {one}"),
                    many => format!("cannot {purpose}:\n  {}", many.join("\n  ")),
                };
                let namespace = denials[0].namespace.as_ref().map(|namespace| format!(" -n {namespace}"));
                let check = format!(
                    "kubectl auth can-i {} {}{}",
                    denials[0].verb,
                    denials[0].resource,
                    namespace.unwrap_or_default()
                );
                UserError::new(message)
                    .help("ask an administrator of the cluster for these permissions, or to run this")
                    .help(format!("`opctl doctor` lists the rights of this user; for one: `{check}`"))
            }
            FailureCause::Escalation => UserError::new(format!("cannot {purpose}: {}", message(error))).help(
                "who creates a role must have all of its permissions: ask an administrator of the cluster to run this",
            ),
            FailureCause::NoContext | FailureCause::Other => {
                UserError::new(format!("cannot {purpose}: {}", message(error)))
            }
        })
    }
}

impl From<&RenderError> for UserError {
    fn from(error: &RenderError) -> Self {
        let refusal = Self::new(error.to_string());
        match error {
            RenderError::NoKustomization(ways) => {
                ways.iter().fold(refusal, Self::help).help("to apply the CRDs alone, run `opctl install`")
            }
            RenderError::NoCrds => refusal
                .help("`opctl create api` adds a kind")
                .help("`opctl manifests` regenerates `config/crd` from the Rust source"),
            RenderError::Kustomize { .. } => {
                refusal.help("`opctl check` shows what is wrong under `config`, and where")
            }
            RenderError::Kubectl(error) => no_kubectl(error),
            RenderError::Image(error) => refusal.help(&error.rule),
            RenderError::NoPlaceholder { image, others } => {
                let others: Vec<String> = others.iter().map(|image| format!("`{image}`")).collect();
                let others = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
                refusal
                    .help(format!("there is {others}; leave `--image` out to take the manifests as they are"))
                    .help(format!("or write `image: {PLACEHOLDER_TAGGED}` where `{image}` should go"))
            }
            RenderError::NoImage { command, .. } => {
                refusal.help(format!("opctl {command} --image registry.example.com/my-operator:v1"))
            }
            RenderError::Crds(error) => error.downcast_ref().cloned().unwrap_or(refusal),
            RenderError::Manifest(_) | RenderError::Images(_) => refusal,
        }
    }
}

/// The error message of kubectl.
fn message(error: &KubectlError) -> String {
    match error {
        KubectlError::Failed { stderr, .. } => stderr.trim_start_matches("error: ").to_owned(),
        error => error.to_string(),
    }
}

fn no_kubectl(error: &KubectlError) -> UserError {
    let refusal = match error {
        KubectlError::Missing(program) if program == "kubectl" => {
            UserError::new("there is no `kubectl` on PATH or in KUBEBUILDER_ASSETS")
        }
        error => UserError::new(error.to_string()),
    };
    refusal
        .help("`opctl testenv setup` installs one; for other ways, see https://kubernetes.io/docs/tasks/tools/")
        .help("`--kubectl PROGRAM` names one that is elsewhere")
}

fn unreachable(error: &KubectlError, has_context: bool, prints: bool) -> UserError {
    let refusal = UserError::new(format!("cannot reach the cluster: {}", message(error)));
    if !has_context {
        return refusal
            .help("set KUBECONFIG to the file of a cluster, or choose one: `kubectl config use-context NAME`");
    }
    let refusal =
        refusal.help("start it, or choose another one with `--context`; `kubectl config get-contexts` lists them");
    if prints { refusal.help("`--print` prints the manifests without a cluster") } else { refusal }
}
