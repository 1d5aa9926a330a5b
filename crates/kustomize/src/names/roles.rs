//! Checks the role and the service accounts that a binding references.

use super::{Names, Reference};
use crate::diagnostics::OP439;
use crate::object::Object;
use opctl_model::diagnostic::Severity;

/// ClusterRoles of every cluster, besides `system:…`.
const CLUSTER_ROLES: [&str; 4] = ["admin", "cluster-admin", "edit", "view"];

impl Names<'_> {
    pub(super) fn binding(&mut self, object: &Object) {
        let id = object.id();
        if let Some(name) = object.node.at(&["roleRef", "name"]) {
            let text = name.as_text().unwrap_or_default();
            let is_role = object.node.text_at(&["roleRef", "kind"]) == Some("Role");
            let is_brought = text.starts_with("system:")
                || !is_role && CLUSTER_ROLES.contains(&text)
                || is_role && id.namespace == "kube-system" && text == "extension-apiserver-authentication-reader";
            if !is_brought {
                self.look_up(Reference {
                    code: OP439,
                    severity: Severity::Error,
                    group: "rbac.authorization.k8s.io",
                    kind: if is_role { "Role" } else { "ClusterRole" },
                    namespace: is_role.then_some(&id.namespace),
                    name,
                    by: format!("this {}", id.kind),
                    is_followed: true,
                });
            }
        }
        for subject in object.node.items_at(&["subjects"]) {
            let Some(name) = subject.get("name").filter(|_| subject.text_at(&["kind"]) == Some("ServiceAccount"))
            else {
                continue;
            };
            let Some(namespace) = subject.text_at(&["namespace"]) else {
                let message = "a ServiceAccount that is bound needs a `namespace`";
                let problem = OP439.error(message).at(name.span.clone(), "");
                self.problems.push(problem.help("API servers refuse the binding without; add the account's own"));
                continue;
            };
            let text = name.as_text().unwrap_or_default();
            let is_ours = self.owns_namespace(namespace);
            let is_here =
                || self.all.iter().any(|other| other.is("", "ServiceAccount") && other.first_id().name == text);
            // Accounts in other namespaces are not checked, unless one of this name is rendered here.
            if text != "default" && (is_ours || is_here()) {
                self.look_up(Reference {
                    code: OP439,
                    severity: if is_ours { Severity::Error } else { Severity::Warning },
                    group: "",
                    kind: "ServiceAccount",
                    namespace: Some(namespace),
                    name,
                    by: format!("this {}", id.kind),
                    is_followed: true,
                });
            }
        }
    }
}
