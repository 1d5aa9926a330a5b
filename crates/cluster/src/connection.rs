//! Which cluster a kubeconfig selects, and whether its API server answers.

use crate::{FailureCause, Kubectl, KubectlError, items};

/// Prints the current context of the kubeconfig as JSON, without a request.
pub const VIEW: [&str; 5] = ["config", "view", "--minify", "-o", "json"];
/// One request without discovery. It fails at once or after this time.
pub const VERSION: [&str; 4] = ["get", "--raw", "/version", "--request-timeout=10s"];
/// The limit for each request of a quick check.
pub const TIMEOUT: &str = "--request-timeout=5s";

#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    #[error("the kubeconfig has no context `{0}`")]
    UnknownContext(String),

    #[error("cannot reach the cluster: {error}")]
    Unreachable { error: KubectlError, has_context: bool },

    /// `purpose` is what kubectl could not do, e.g. `read the kubeconfig`.
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

/// Checks the result of [`VERSION`]. `has_context`: the kubeconfig has a current context.
///
/// # Errors
///
/// If no API server answers, or kubectl cannot ask it. An answer that denies the request is an answer.
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
