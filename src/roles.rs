//! Loads roles and bindings, and returns the rules that they grant to the operator's service account.

mod fix;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub use self::fix::Fix;
use crate::error::UserError;
use crate::kept::{self, Kept, Templates};
use opctl_kustomize::yaml::Node;
use opctl_model::RbacRule;
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_source::grants::diagnostics::{OP417, OP420};

/// The rules of the roles that are bound to a service account.
#[derive(Default)]
pub struct Roles {
    /// The path, as shown in messages.
    pub name: String,
    pub rules: Vec<RbacRule>,
    /// The namespace of the service account, if bindings name it.
    pub namespace: Option<String>,
    /// Warnings about bound roles that no manifest defines, and groups that do not exist.
    pub diagnostics: Vec<Diagnostic>,
    /// The roles that contain these rules.
    roles: Vec<Role>,
    kept: Kept,
    values: Vec<PathBuf>,
}

/// A role of the operator.
struct Role {
    /// The index of the object.
    object: usize,
    /// The namespace in which it grants its rules; `None` for the whole cluster.
    namespace: Option<String>,
    /// It is bound only to the service account of the operator.
    is_own: bool,
}

/// A service account: its namespace and its name.
type Account<'a> = (&'a str, &'a str);

/// Reads the roles in a file, folder, kustomization or chart. Only roles that are bound to a service account are used,
/// each in the namespace of its binding; if there are none, all roles are used. `names` are the service accounts of the
/// operator, required if several have roles; `values` are files with values for charts.
///
/// # Errors
///
/// If neither a role nor a binding is found, or several service accounts have roles and `names` is empty or contains an
/// unknown one. See also [`kept::objects`].
pub fn read(path: &Path, names: &[String], values: &[PathBuf]) -> anyhow::Result<Roles> {
    let kinds = ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"];
    let kept = kept::objects(path, "rbac.authorization.k8s.io", &kinds, Templates::Rendered(values))?;
    let is_binding = |object: &Node| object.text_at(&["kind"]).is_some_and(|kind| kind.ends_with("Binding"));
    let bindings: Vec<&Node> = kept.objects.iter().filter(|object| is_binding(object)).collect();
    let roles: Vec<Numbered> = kept.objects.iter().enumerate().filter(|(_, object)| !is_binding(object)).collect();
    let name = path.display().to_string();
    if roles.is_empty() && bindings.is_empty() {
        return Err(UserError::new(format!("no Role or ClusterRole found in `{name}`"))
            .help("`--role` takes a file or folder with roles, a folder with a kustomization, or a Helm chart")
            .into());
    }
    let accounts: BTreeSet<Account> = bindings.iter().flat_map(|binding| accounts_of(binding)).collect();
    let is_known = |wanted: &String| accounts.iter().any(|(_, name)| name == wanted);
    if names.is_empty() && accounts.len() > 1 || !names.iter().all(is_known) {
        let known: Vec<String> = accounts.iter().map(|(_, name)| format!("`{name}`")).collect();
        return Err(UserError::new(format!("the roles in `{name}` are bound to {}", known.join(", ")))
            .help("name the service account of the operator: `--service-account NAME` (repeatable)")
            .into());
    }
    let is_chosen = |(_, name): &Account| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let mut read = Roles { name, ..Roles::default() };
    match accounts.iter().find(|account| is_chosen(account)) {
        Some((namespace, _)) => {
            read.namespace = Some((*namespace).to_owned());
            let (bound, others): (Vec<&Node>, Vec<&Node>) =
                bindings.iter().partition(|binding| accounts_of(binding).iter().any(is_chosen));
            bound.iter().for_each(|binding| read.add_bound(binding, &roles));
            let has_others = |binding: &&&Node| {
                let chosen = accounts_of(binding).into_iter().filter(is_chosen).count();
                chosen < binding.items_at(&["subjects"]).len()
            };
            let shared: Vec<usize> = bound
                .iter()
                .filter(has_others)
                .chain(&others)
                .filter_map(|binding| Some(role_of(binding, &roles)?.0))
                .collect();
            read.roles.iter_mut().filter(|role| shared.contains(&role.object)).for_each(|role| role.is_own = false);
        }
        None => roles.iter().for_each(|role| read.add(*role, namespace_of(role.1), &roles)),
    }
    Ok(Roles { kept, values: values.to_vec(), ..read })
}

/// An object and its index.
type Numbered<'a> = (usize, &'a Node);

/// The role that a binding refers to.
fn role_of<'a>(binding: &Node, roles: &[Numbered<'a>]) -> Option<Numbered<'a>> {
    let [kind, name] = ["kind", "name"].map(|key| binding.text_at(&["roleRef", key]).unwrap_or_default());
    let is_bound = |(_, role): &&Numbered| {
        role.text_at(&["kind"]) == Some(kind)
            && role.text_at(&["metadata", "name"]) == Some(name)
            && (kind == "ClusterRole" || namespace_of(role) == namespace_of(binding))
    };
    roles.iter().find(is_bound).copied()
}

/// The service accounts that a binding refers to.
fn accounts_of(binding: &Node) -> Vec<Account<'_>> {
    let accounts =
        binding.items_at(&["subjects"]).iter().filter(|subject| subject.text_at(&["kind"]) == Some("ServiceAccount"));
    let own = namespace_of(binding).unwrap_or(kept::NAMESPACE);
    accounts.filter_map(|it| Some((it.text_at(&["namespace"]).unwrap_or(own), it.text_at(&["name"])?))).collect()
}

/// The namespace in which a Role or RoleBinding grants its rules; `None` for cluster-wide objects.
fn namespace_of(object: &Node) -> Option<&str> {
    let is_of_cluster = object.text_at(&["kind"]).is_some_and(|kind| kind.starts_with("Cluster"));
    (!is_of_cluster).then(|| object.text_at(&["metadata", "namespace"]).unwrap_or(kept::NAMESPACE))
}

impl Roles {
    fn add_bound(&mut self, binding: &Node, roles: &[Numbered]) {
        let [kind, name] = ["kind", "name"].map(|key| binding.text_at(&["roleRef", key]).unwrap_or_default());
        let namespace = namespace_of(binding);
        if let Some(role) = role_of(binding, roles) {
            return self.add(role, namespace, roles);
        }
        let place = binding.at(&["roleRef", "name"]).unwrap_or(binding);
        if (kind, name) == ("ClusterRole", "cluster-admin") {
            let all = || vec!["*".to_owned()];
            let rule = RbacRule { groups: all(), resources: all(), verbs: all(), ..empty(namespace, &place.span) };
            return self.rules.push(rule);
        }
        self.unknown(format!("no manifest defines the {kind} `{name}`"), &place.span);
    }

    fn unknown(&mut self, message: String, span: &Span) {
        let help = format!("add its manifest to `{}`; without it, its permissions are reported as missing", self.name);
        self.diagnostics.push(OP420.warning(message).at(span.clone(), "").help(help));
    }

    /// Adds the rules of a role. For an aggregated ClusterRole, adds those of the selected ClusterRoles, because the
    /// control plane overwrites its own.
    fn add(&mut self, (object, role): Numbered, namespace: Option<&str>, roles: &[Numbered]) {
        let Some(aggregation) = role.get("aggregationRule").filter(|rule| !rule.is_null()) else {
            self.roles.push(Role { object, namespace: namespace.map(str::to_owned), is_own: true });
            return role.items_at(&["rules"]).iter().for_each(|rule| self.add_rule(rule, namespace));
        };
        for selector in aggregation.items_at(&["clusterRoleSelectors"]) {
            if selector.get("matchExpressions").is_some() {
                self.unknown("opctl does not evaluate `matchExpressions`".into(), &selector.span);
                continue;
            }
            let labels = selector.get("matchLabels").map(Node::entries).unwrap_or_default();
            let is_selected = |(_, other): &&Numbered| {
                let label = |key: &str| other.at(&["metadata", "labels"])?.text_at(&[key]);
                let has = |wanted: &str, value: Option<&str>| value.is_some() && label(wanted) == value;
                other.text_at(&["kind"]) == Some("ClusterRole")
                    && labels.iter().all(|wanted| has(&wanted.key, wanted.value.as_text()))
            };
            // The role is removed from the rest, so that two roles that select each other do not recurse forever.
            let rest: Vec<Numbered> = roles.iter().filter(|(other, _)| *other != object).copied().collect();
            let selected: Vec<Numbered> = rest.iter().filter(is_selected).copied().collect();
            selected.into_iter().for_each(|other| self.add(other, namespace, &rest));
        }
    }

    fn add_rule(&mut self, node: &Node, namespace: Option<&str>) {
        let mut rule = rule_of(node, namespace);
        if rule.groups.iter().any(|group| group == "core") {
            // `core` is a name of the core group only in markers.
            rule.groups.retain(|group| group != "core");
            let warning = OP417.warning("there is no API group `core`: the name of the core group is `\"\"`");
            self.diagnostics.push(
                warning.at(rule.span.clone(), "grants nothing on Pods, Services and other kinds of the core group"),
            );
        }
        if !self.rules.contains(&rule) {
            self.rules.push(rule);
        }
    }
}

fn rule_of(node: &Node, namespace: Option<&str>) -> RbacRule {
    let texts = |key| node.items_at(&[key]).iter().filter_map(Node::as_text).map(str::to_owned).collect();
    RbacRule {
        groups: texts("apiGroups"),
        resources: texts("resources"),
        resource_names: texts("resourceNames"),
        verbs: texts("verbs"),
        urls: texts("nonResourceURLs"),
        ..empty(namespace, &whole(node))
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
        is_for_certificates: false,
        span: span.clone(),
    }
}

/// The span from the start of a value to the end of its last descendant. Parts that a patch replaced are in other
/// files, and excluded.
fn whole(node: &Node) -> Span {
    let inner = node.items().iter().chain(node.entries().iter().map(|entry| &entry.value)).map(whole);
    let ends = inner.filter(|inner| inner.file.path == node.span.file.path).map(|inner| inner.range.end);
    let end = ends.max().unwrap_or_default().max(node.span.range.end);
    Span { file: node.span.file.clone(), range: node.span.range.start..end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Roles {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rbac.yaml"), text).unwrap();
        read(folder.path(), &[], &[]).unwrap()
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
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: operator}
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: for-people, labels: {aggregate: 'yes'}}
rules:
- {apiGroups: [example.com], resources: [shelves], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: leader, namespace: home}
rules:
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [update]}
";

    fn binding(kind: &str, role: &str, namespace: &str) -> String {
        let subject = "{kind: ServiceAccount, name: operator, namespace: home}";
        format!(
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: b, namespace: {namespace}}}\nroleRef: {{{role}}}\nsubjects: [{subject}]\n"
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
        let aggregated = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: all}\n\
                          aggregationRule: {clusterRoleSelectors: [{matchLabels: {aggregate: 'yes'}}]}\nrules: []\n";
        let binding = binding("ClusterRoleBinding", "kind: ClusterRole, name: all", "''");
        assert_eq!(rules(&format!("{ROLES}{aggregated}{binding}")), ["everywhere: example.com/shelves get"]);
    }

    #[test]
    fn roles_that_are_not_there_are_reported_and_cluster_admin_is_known() {
        let unknown =
            read_text(&format!("{ROLES}{}", binding("ClusterRoleBinding", "kind: ClusterRole, name: view", "''")));
        assert_eq!(unknown.diagnostics[0].message, "no manifest defines the ClusterRole `view`");
        assert!(unknown.rules.is_empty());
        let admin = binding("ClusterRoleBinding", "kind: ClusterRole, name: cluster-admin", "''");
        assert_eq!(rules(&format!("{ROLES}{admin}")), ["everywhere: */* *"]);
    }

    #[test]
    fn one_of_several_service_accounts_is_chosen() {
        let operator = binding("ClusterRoleBinding", "kind: ClusterRole, name: operator", "''");
        let hook = binding("ClusterRoleBinding", "kind: ClusterRole, name: cluster-admin", "''");
        let text = format!("{ROLES}{operator}{}", hook.replace("name: operator, namespace", "name: hook, namespace"));
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rbac.yaml"), text).unwrap();
        let Err(error) = read(folder.path(), &[], &[]) else { panic!("two accounts") };
        assert!(error.to_string().ends_with("are bound to `hook`, `operator`"), "{error}");
        let read = read(folder.path(), &["operator".into()], &[]).unwrap();
        assert_eq!(read.rules.iter().map(|rule| &rule.groups[..]).collect::<Vec<_>>(), [["apps"]]);
    }

    #[test]
    fn the_core_group_has_no_name_in_roles() {
        let text = ROLES.replace("apiGroups: [apps]", "apiGroups: [core, '']");
        let read = read_text(&text);
        assert_eq!(read.rules[0].groups, [""]);
        assert_eq!(read.diagnostics[0].message, "there is no API group `core`: the name of the core group is `\"\"`");
    }
}
