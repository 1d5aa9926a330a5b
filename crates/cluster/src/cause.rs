//! Classifies kubectl's error output into a [`FailureCause`].

use std::fmt;

use crate::KubectlError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureCause {
    /// kubectl does not start.
    NoKubectl,
    /// No API server responds.
    Unreachable,
    /// The API server rejects the user's credentials.
    Unauthorized,
    /// The credential plugin in the kubeconfig fails or is missing.
    Credentials,
    /// The kubeconfig, or a certificate or key that it contains or refers to, cannot be read.
    Kubeconfig,
    /// The kubeconfig lacks the context, or has no current one.
    NoContext,
    /// Contains at least one denial.
    Forbidden(Vec<Denial>),
    /// The user may not create roles with permissions that they do not have.
    Escalation,
    Other,
}

/// A request that the user is not allowed to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    pub user: String,
    pub verb: String,
    /// With its group, in kubectl's syntax: `deployments.apps`.
    pub resource: String,
    /// `None` for the whole cluster.
    pub namespace: Option<String>,
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "user `{}` may not {} `{}`", self.user, self.verb, self.resource)?;
        match &self.namespace {
            Some(namespace) => write!(f, " in the namespace `{namespace}`"),
            None => write!(f, " at the cluster scope"),
        }
    }
}

const CREDENTIALS: &str = "getting credentials: ";

/// The prefixes of kubectl's errors about the kubeconfig.
const KUBECONFIG: [&str; 6] = [
    "error: error loading config file ",
    "Error in configuration:",
    "error: unable to load root certificates: ",
    "error: unable to read certificate-authority ",
    "error: unable to read client-",
    "error: tls: ",
];

impl KubectlError {
    /// The reason on a single line.
    pub fn reason(&self) -> String {
        let Self::Failed { stderr, .. } = self else { return self.to_string() };
        let reason = match self.cause() {
            // The other lines explain how to install plugins.
            FailureCause::Credentials => {
                stderr.lines().find(|line| line.contains(CREDENTIALS)).unwrap_or_default().to_owned()
            }
            // kubectl lists all problems.
            FailureCause::Kubeconfig => {
                stderr.lines().map(|line| line.trim_start_matches("* ").trim()).collect::<Vec<_>>().join(" ")
            }
            _ => stderr.lines().last().unwrap_or_default().to_owned(),
        };
        reason.trim_start_matches("error: ").trim().to_owned()
    }

    pub fn cause(&self) -> FailureCause {
        let Self::Failed { stderr, .. } = self else { return FailureCause::NoKubectl };
        let mut denials: Vec<Denial> = Vec::new();
        for denial in stderr.lines().filter_map(denial) {
            if !denials.contains(&denial) {
                denials.push(denial);
            }
        }
        let has = |words: &[&str]| words.iter().any(|words| stderr.contains(words));
        // In this case, kubectl also prints "Unable to connect to the server".
        if has(&[CREDENTIALS]) {
            FailureCause::Credentials
        } else if KUBECONFIG.iter().any(|start| stderr.starts_with(start)) {
            FailureCause::Kubeconfig
        // Other refused connections are excluded: a webhook that cannot be called does not make the cluster
        // unreachable.
        } else if has(&[
            "The connection to the server ",
            "Unable to connect to the server",
            "connect: connection refused - ",
        ]) {
            FailureCause::Unreachable
        } else if has(&["You must be logged in to the server", "(Unauthorized)"]) {
            FailureCause::Unauthorized
        } else if has(&["cannot locate context", "current-context must exist", "error: context \""]) {
            FailureCause::NoContext
        } else if !denials.is_empty() {
            FailureCause::Forbidden(denials)
        } else if has(&["is attempting to grant RBAC permissions not currently held"]) {
            FailureCause::Escalation
        } else {
            FailureCause::Other
        }
    }
}

/// Parses `… User "u" cannot patch resource "deployments" in API group "apps" in the namespace "n"`, or with `at the
/// cluster scope`.
fn denial(line: &str) -> Option<Denial> {
    let (_, line) = line.split_once("User \"")?;
    let (user, line) = line.split_once("\" cannot ")?;
    let (verb, line) = line.split_once(" resource \"")?;
    let (resource, line) = line.split_once("\" in API group \"")?;
    let (group, line) = line.split_once('"')?;
    let namespace = line.strip_prefix(" in the namespace \"").and_then(|line| line.split_once('"'));
    Some(Denial {
        user: user.into(),
        verb: verb.into(),
        resource: if group.is_empty() { resource.into() } else { format!("{resource}.{group}") },
        namespace: namespace.map(|(namespace, _)| namespace.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(stderr: &str) -> KubectlError {
        KubectlError::Failed { command: "kubectl".into(), stderr: stderr.into() }
    }

    fn cause(stderr: &str) -> FailureCause {
        failed(stderr).cause()
    }

    fn reason(stderr: &str) -> String {
        failed(stderr).reason()
    }

    #[test]
    fn denials_are_read_once_each() {
        let stderr = "Error from server (Forbidden): customresourcedefinitions.apiextensions.k8s.io \"a\" is forbidden: User \
            \"few\" cannot patch resource \"customresourcedefinitions\" in API group \"apiextensions.k8s.io\" at the cluster scope\n";
        let pods = "Error from server (Forbidden): pods is forbidden: User \"few\" cannot list resource \"pods\" in API \
            group \"\" in the namespace \"shop\"";
        let FailureCause::Forbidden(denials) = cause(&format!("{stderr}{stderr}{pods}")) else {
            panic!("not forbidden")
        };
        let shown: Vec<String> = denials.iter().map(ToString::to_string).collect();
        let crds = "user `few` may not patch `customresourcedefinitions.apiextensions.k8s.io` at the cluster scope";
        assert_eq!(shown, [crds, "user `few` may not list `pods` in the namespace `shop`"]);
    }

    #[test]
    fn a_webhook_that_does_not_answer_is_no_unreachable_cluster() {
        let webhook = "Error from server (InternalError): Internal error occurred: failed calling webhook \"x\": Post \
            \"https://a.b.svc\": dial tcp 10.0.0.1:443: connect: connection refused";
        assert_eq!(cause(webhook), FailureCause::Other);
        let server = "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?";
        assert_eq!(cause(server), FailureCause::Unreachable);
        assert_eq!(
            cause("Unable to connect to the server: dial tcp: lookup a.b: no such host"),
            FailureCause::Unreachable
        );
        assert_eq!(cause("error: You must be logged in to the server (Unauthorized)"), FailureCause::Unauthorized);
    }

    #[test]
    fn what_is_wrong_with_a_kubeconfig_is_no_unreachable_cluster() {
        let plugin = "Unable to connect to the server: getting credentials: exec: executable aws not found\n\nIt looks like \
            you are trying to use a client-go credential plugin that is not installed.\n\nTo learn more about this feature, \
            consult the documentation";
        assert_eq!(cause(plugin), FailureCause::Credentials);
        assert_eq!(
            reason(plugin),
            "Unable to connect to the server: getting credentials: exec: executable aws not found"
        );
        let files = "Error in configuration: \n* unable to read client-cert /a for u due to open /a: no such file or directory\n\
            * unable to read client-key /b for u due to open /b: no such file or directory";
        assert_eq!(cause(files), FailureCause::Kubeconfig);
        assert!(
            reason(files).starts_with("Error in configuration: unable to read client-cert /a "),
            "{}",
            reason(files)
        );
        for stderr in [
            "error: error loading config file \"a\": illegal base64 data at input byte 0",
            "error: unable to load root certificates: unable to parse bytes as PEM block",
            "error: unable to read certificate-authority /a for c due to open /a: no such file or directory",
            "error: tls: failed to find any PEM data in certificate input",
        ] {
            assert_eq!(cause(stderr), FailureCause::Kubeconfig, "{stderr}");
        }
    }

    #[test]
    fn contexts_that_are_not_there_are_told_apart() {
        for stderr in [
            "error: cannot locate context nope",
            "error: current-context must exist in order to minify",
            "error: context \"nope\" does not exist",
        ] {
            assert_eq!(cause(stderr), FailureCause::NoContext, "{stderr}");
        }
    }
}
