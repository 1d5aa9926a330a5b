//! Classifies kubectl's error output into a [`FailureCause`].

use std::fmt;

use super::KubectlError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureCause {
    /// kubectl does not start.
    NoKubectl,
    /// Nobody answers there.
    Unreachable,
    /// Somebody does, and does not know the user.
    Unauthorized,
    /// The program in the kubeconfig that gets the credentials fails or is missing.
    Credentials,
    /// Of the kubeconfig.
    NoContext,
    /// At least one.
    Forbidden(Vec<Denial>),
    /// Roles cannot be made by those who do not have their rights.
    Escalation,
    Other,
}

/// What a user may not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    pub user: String,
    pub verb: String,
    /// With its group, as kubectl takes it: `deployments.apps`.
    pub resource: String,
    /// `None`: in the whole cluster.
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

impl KubectlError {
    pub fn cause(&self) -> FailureCause {
        let Self::Failed { stderr, .. } = self else { return FailureCause::NoKubectl };
        let mut denials: Vec<Denial> = Vec::new();
        for denial in stderr.lines().filter_map(denial) {
            if !denials.contains(&denial) {
                denials.push(denial);
            }
        }
        let has = |words: &[&str]| words.iter().any(|words| stderr.contains(words));
        // Not whatever else is refused: a webhook that cannot be called is no cluster that cannot be reached.
        if has(&["The connection to the server ", "Unable to connect to the server", "connect: connection refused - "])
        {
            FailureCause::Unreachable
        } else if has(&["getting credentials: "]) {
            FailureCause::Credentials
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

/// `… User "u" cannot patch resource "deployments" in API group "apps" in the namespace "n"`, or `at the cluster scope`.
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

    fn cause(stderr: &str) -> FailureCause {
        KubectlError::Failed { command: "kubectl".into(), stderr: stderr.into() }.cause()
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
