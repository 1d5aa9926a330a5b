//! The cluster that a kubeconfig selects, and the response of its API server.

use crate::{FailureCause, Kubectl, KubectlError, items};

/// Prints the current context of the kubeconfig as JSON, without a request.
pub const VIEW: [&str; 5] = ["config", "view", "--minify", "-o", "json"];
/// A single request without discovery, with a timeout of 10 seconds.
pub const VERSION: [&str; 4] = ["get", "--raw", "/version", "--request-timeout=10s"];
/// The timeout for each request of a quick check.
pub const TIMEOUT: &str = "--request-timeout=5s";

#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    #[error("the kubeconfig has no context `{0}`")]
    UnknownContext(String),

    #[error("cannot reach the cluster: {error}")]
    Unreachable { error: KubectlError, has_context: bool },

    /// `purpose` is the failed action, e.g. `read the kubeconfig`.
    #[error("cannot {purpose}: {error}")]
    Failed { purpose: &'static str, error: KubectlError },
}

/// Returns the context and the server in the output of [`VIEW`]; `None` if the kubeconfig has no context, as in a Pod.
///
/// # Errors
///
/// If kubectl cannot use the kubeconfig, or the kubeconfig does not have the context of `kubectl`.
pub fn describe(kubectl: &Kubectl, view: Result<String, KubectlError>) -> Result<Option<String>, ConnectionError> {
    match view {
        Ok(view) => {
            let view = items(&view).into_iter().next().unwrap_or_default();
            let context = view["current-context"].as_str().unwrap_or("unknown");
            let context = kubectl.context.as_deref().unwrap_or(context);
            let server = view["clusters"][0]["cluster"]["server"].as_str().unwrap_or("unknown");
            Ok(Some(format!("context `{context}`, server {server}")))
        }
        Err(error) => match (error.cause(), &kubectl.context) {
            (FailureCause::NoContext, Some(context)) => Err(ConnectionError::UnknownContext(context.clone())),
            (FailureCause::NoContext, None) => Ok(None),
            _ => Err(ConnectionError::Failed { purpose: "read the kubeconfig", error }),
        },
    }
}

/// Checks the result of [`VERSION`]. Set `has_context` if the kubeconfig has a current context.
///
/// # Errors
///
/// If no API server responds, or kubectl fails. A denied request counts as a response.
pub fn check_answer(version: Result<String, KubectlError>, has_context: bool) -> Result<(), ConnectionError> {
    let Err(error) = version else { return Ok(()) };
    match error.cause() {
        FailureCause::Forbidden(_) => Ok(()),
        FailureCause::Unauthorized | FailureCause::Credentials | FailureCause::Kubeconfig | FailureCause::NoKubectl => {
            Err(ConnectionError::Failed { purpose: "ask the cluster", error })
        }
        _ if error.to_string().contains("(Forbidden)") => Ok(()),
        _ => Err(ConnectionError::Unreachable { error, has_context }),
    }
}
