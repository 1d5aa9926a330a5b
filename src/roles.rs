//! Roles that a repository keeps → the rules that they grant to its operator.

use std::path::Path;

use crate::error::UserError;
use crate::kept::{self, Templates};
use opctl_kustomize::yaml::Node;
use opctl_model::RbacRule;
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_source::grants::diagnostics::OP420;

/// What roles grant to the service accounts that they are bound to.
pub struct Roles {
    /// Where they are, for messages.
    pub name: String,
    pub rules: Vec<RbacRule>,
    /// The namespace of the service accounts, if bindings name it.
    pub namespace: Option<String>,
    /// Bound roles that are not among the manifests.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the roles in a file, folder, kustomization or chart. If there are bindings, those roles count that are bound to a service account,
/// in the namespace of the binding; otherwise, all do.
///
/// # Errors
///
/// If there is no role, or see [`kept::objects`].
pub fn read(path: &Path) -> anyhow::Result<Roles> {
    let kinds = ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"];
    let objects = kept::objects(path, &kinds, Templates::Rendered)?;
    let (bindings, roles): (Vec<&Node>, Vec<&Node>) =
        objects.iter().partition(|object| object.text_at(&["kind"]).is_some_and(|kind| kind.ends_with("Binding")));
    let name = path.display().to_string();
    if roles.is_empty() && bindings.is_empty() {
        return Err(UserError::new(format!("there is no Role and no ClusterRole in `{name}`"))
            .help("`--role` takes a file or folder with roles, a folder with a kustomization, or a Helm chart")
            .into());
    }
    let mut read = Roles { name, rules: Vec::new(), namespace: None, diagnostics: Vec::new() };
    let grants = bindings.iter().flat_map(|binding| {
        let subjects = binding.items_at(&["subjects"]).iter();
        subjects.filter(|subject| subject.text_at(&["kind"]) == Some("ServiceAccount")).map(move |it| (*binding, it))
    });
    for (binding, subject) in grants {
        let namespace = subject.text_at(&["namespace"]).unwrap_or(kept::NAMESPACE);
        read.namespace.get_or_insert_with(|| namespace.to_owned());
        read.add_bound(binding, &roles);
    }
    if bindings.is_empty() {
        for role in &roles {
            read.add(role, namespace_of(role), &roles);
        }
    }
    Ok(read)
}

/// The namespace in which a Role or RoleBinding grants something; `None` for those of the whole cluster.
fn namespace_of(object: &Node) -> Option<&str> {
    let is_of_cluster = object.text_at(&["kind"]).is_some_and(|kind| kind.starts_with("Cluster"));
    (!is_of_cluster).then(|| object.text_at(&["metadata", "namespace"]).unwrap_or(kept::NAMESPACE))
}

impl Roles {
    fn add_bound(&mut self, binding: &Node, roles: &[&Node]) {
        let [kind, name] = ["kind", "name"].map(|key| binding.text_at(&["roleRef", key]).unwrap_or_default());
        let namespace = namespace_of(binding);
        let is_bound = |role: &&&Node| {
            role.text_at(&["kind"]) == Some(kind)
                && role.text_at(&["metadata", "name"]) == Some(name)
                && (kind == "ClusterRole" || namespace_of(role) == namespace)
        };
        if let Some(role) = roles.iter().find(is_bound) {
            return self.add(role, namespace, roles);
        }
        let place = binding.at(&["roleRef", "name"]).unwrap_or(binding);
        if (kind, name) == ("ClusterRole", "cluster-admin") {
            let all = || vec!["*".to_owned()];
            let rule = RbacRule { groups: all(), resources: all(), verbs: all(), ..empty(namespace, &place.span) };
            return self.rules.push(rule);
        }
        let message = format!("the rules of the {kind} `{name}` are unknown");
        let help = "add the manifest of the role to the folder; until then, its permissions are reported as missing";
        self.diagnostics.push(OP420.warning(message).at(place.span.clone(), "bound here").help(help));
    }

    /// Adds the rules of a role, and those of the roles that it aggregates.
    fn add(&mut self, role: &Node, namespace: Option<&str>, roles: &[&Node]) {
        for rule in role.items_at(&["rules"]) {
            let texts = |key| rule.items_at(&[key]).iter().filter_map(Node::as_text).map(str::to_owned).collect();
            let rule = RbacRule {
                groups: texts("apiGroups"),
                resources: texts("resources"),
                resource_names: texts("resourceNames"),
                verbs: texts("verbs"),
                urls: texts("nonResourceURLs"),
                ..empty(namespace, &whole(rule))
            };
            if !self.rules.contains(&rule) {
                self.rules.push(rule);
            }
        }
        for selector in role.items_at(&["aggregationRule", "clusterRoleSelectors"]) {
            let labels = selector.get("matchLabels").map(Node::entries).unwrap_or_default();
            let is_selected = |other: &&&Node| {
                let label = |key: &str| other.at(&["metadata", "labels"])?.text_at(&[key]);
                labels.iter().all(|wanted| label(&wanted.key) == wanted.value.as_text())
            };
            let selected = roles.iter().filter(|other| !other.span.contains(&role.span)).filter(is_selected);
            for other in selected.collect::<Vec<_>>() {
                self.add(other, namespace, &[]);
            }
        }
    }
}

fn empty(namespace: Option<&str>, span: &Span) -> RbacRule {
    RbacRule {
        namespace: namespace.map(str::to_owned),
        role_name: None,
        groups: Vec::new(),
        resources: Vec::new(),
        resource_names: Vec::new(),
        verbs: Vec::new(),
        urls: Vec::new(),
        is_of_runtime: false,
        span: span.clone(),
    }
}

/// The text of a value with everything in it.
fn whole(node: &Node) -> Span {
    let inner = node.items().iter().chain(node.entries().iter().map(|entry| &entry.value));
    let end = inner.map(|inner| whole(inner).range.end).max().unwrap_or_default().max(node.span.range.end);
    Span { file: node.span.file.clone(), range: node.span.range.start..end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Roles {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rbac.yaml"), text).unwrap();
        read(folder.path()).unwrap()
    }

    /// Each rule as `NAMESPACE: GROUPS/RESOURCES VERBS`.
    fn rules(text: &str) -> Vec<String> {
        let line = |rule: &RbacRule| {
            let namespace = rule.namespace.as_deref().unwrap_or("everywhere");
            format!("{namespace}: {}/{} {}", rule.groups.join(","), rule.resources.join(","), rule.verbs.join(","))
        };
        read_text(text).rules.iter().map(line).collect()
    }

    const ROLES: &str = "\
kind: ClusterRole
metadata: {name: operator}
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [get, list]}
---
kind: ClusterRole
metadata: {name: for-people, labels: {aggregate: 'yes'}}
rules:
- {apiGroups: [example.com], resources: [shelves], verbs: [get]}
---
kind: Role
metadata: {name: leader, namespace: home}
rules:
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [update]}
";

    fn binding(kind: &str, role: &str, namespace: &str) -> String {
        let subject = "{kind: ServiceAccount, name: operator, namespace: home}";
        format!(
            "---\nkind: {kind}\nmetadata: {{name: b, namespace: {namespace}}}\nroleRef: {{{role}}}\nsubjects: [{subject}]\n"
        )
    }

    #[test]
    fn without_bindings_all_roles_count() {
        assert_eq!(
            rules(ROLES),
            [
                "everywhere: apps/deployments get,list",
                "everywhere: example.com/shelves get",
                "home: coordination.k8s.io/leases update"
            ]
        );
    }

    #[test]
    fn with_bindings_the_bound_roles_count_where_they_are_bound() {
        let everywhere = binding("ClusterRoleBinding", "kind: ClusterRole, name: operator", "''");
        let leader = binding("RoleBinding", "kind: Role, name: leader", "home");
        let text = format!("{ROLES}{everywhere}{leader}");
        assert_eq!(rules(&text), ["everywhere: apps/deployments get,list", "home: coordination.k8s.io/leases update"]);
        assert_eq!(read_text(&text).namespace.as_deref(), Some("home"));
        let narrow = binding("RoleBinding", "kind: ClusterRole, name: operator", "shop");
        assert_eq!(rules(&format!("{ROLES}{narrow}")), ["shop: apps/deployments get,list"]);
    }

    #[test]
    fn roles_are_aggregated_by_labels() {
        let aggregated = "---\nkind: ClusterRole\nmetadata: {name: all}\n\
                          aggregationRule: {clusterRoleSelectors: [{matchLabels: {aggregate: 'yes'}}]}\nrules: []\n";
        let binding = binding("ClusterRoleBinding", "kind: ClusterRole, name: all", "''");
        assert_eq!(rules(&format!("{ROLES}{aggregated}{binding}")), ["everywhere: example.com/shelves get"]);
    }

    #[test]
    fn roles_that_are_not_there_are_reported_and_cluster_admin_is_known() {
        let unknown =
            read_text(&format!("{ROLES}{}", binding("ClusterRoleBinding", "kind: ClusterRole, name: view", "''")));
        assert_eq!(unknown.diagnostics[0].message, "the rules of the ClusterRole `view` are unknown");
        assert!(unknown.rules.is_empty());
        let admin = binding("ClusterRoleBinding", "kind: ClusterRole, name: cluster-admin", "''");
        assert_eq!(rules(&format!("{ROLES}{admin}")), ["everywhere: */* *"]);
    }
}
