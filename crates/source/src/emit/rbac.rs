//! RBAC markers → the roles of the operator and the bindings to its service account.
//!
//! A role grants exactly the union of the permissions of its markers. Its form is controller-gen's: the same rules
//! are merged, in the same order, byte for byte, except where controller-gen drops permissions.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::rbac::v1::{self, PolicyRule, RoleRef, Subject};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

use super::{CustomResourceDefinition, HEADER, Manifest, Options, namespaces};
use crate::markers::diagnostics::OP141;
use opctl_model::RbacRule;
use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::builtin;
use opctl_model::yaml;

/// Placeholder for the operator's namespace, which kustomize replaces.
pub const SYSTEM: &str = "system";

const MANAGER_ROLE: &str = "manager-role";
const MANAGER_BINDING: &str = "manager-rolebinding";
/// Name of the operator's service account, before kustomize adds the project's name as a prefix.
pub const SERVICE_ACCOUNT: &str = "controller-manager";

/// `rbac/role.yaml`, `rbac/role_binding.yaml` and the kustomizations that keep them in their namespaces.
pub fn manifests(
    rules: &[RbacRule],
    crds: &[CustomResourceDefinition],
    options: &Options,
) -> Result<Vec<Manifest>, Vec<Diagnostic>> {
    let roles = roles(rules, crds, options)?;
    let file = |name: &str, values: Vec<Value>| Manifest {
        path: format!("rbac/{name}.yaml"),
        text: yaml::documents(HEADER, &values),
    };
    let bindings = roles.iter().map(Role::binding).collect();
    let mut manifests = namespaces::manifests(&roles);
    manifests.push(file("role", roles.iter().map(Role::manifest).collect()));
    manifests.push(file("role_binding", bindings));
    Ok(manifests)
}

/// The service account in the bindings, for a crate that has none. The user may edit this file.
pub fn service_account() -> String {
    let account = json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": SERVICE_ACCOUNT, "namespace": SYSTEM},
    });
    yaml::documents("# Who the operator is in the cluster; what it may do is in role.yaml.", &[account])
}

/// Roles sorted by namespace and name; never empty, so that the binding always has a role.
///
/// # Errors
///
/// If a marker puts a cluster-scoped resource in a namespace.
pub fn roles(
    rules: &[RbacRule],
    crds: &[CustomResourceDefinition],
    options: &Options,
) -> Result<Vec<Role>, Vec<Diagnostic>> {
    // The namespaces for markers without `namespace=`; `None` is a ClusterRole.
    let homes: Vec<Option<String>> = match &options.namespaces[..] {
        _ if !options.namespaced => vec![None],
        [] => vec![Some(SYSTEM.to_owned())],
        namespaces => namespaces.iter().map(|namespace| Some(namespace.to_string())).collect(),
    };
    let mut roles: BTreeMap<(Option<String>, String), Vec<Rule>> = BTreeMap::new();
    let mut problems = Vec::new();
    for rule in rules {
        let name = rule.role_name.as_deref().unwrap_or(MANAGER_ROLE);
        let mut add = |namespace: Option<String>, part| {
            roles.entry((namespace, name.to_owned())).or_default().push(part);
        };
        if rule.namespace.is_some() {
            let nowhere = rule.resources.iter().filter(|resource| is_in_no_namespace(rule, resource));
            problems.extend(nowhere.map(|resource| {
                let message = format!("`{resource}` are in no namespace, so a Role never allows anything");
                let error = OP141.error(message).at(rule.span.clone(), "");
                error.help("move them to a marker without `namespace`")
            }));
        }
        for (target, verbs) in split(rule) {
            if rule.namespace.is_some() || !options.namespaced {
                add(rule.namespace.clone(), (target, verbs));
                continue;
            }
            let (everywhere, inside) = target.parted(crds);
            everywhere.into_iter().for_each(|target| add(None, (target, verbs.clone())));
            if let Some(target) = inside {
                homes.iter().for_each(|home| add(home.clone(), (target.clone(), verbs.clone())));
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    if roles.is_empty() {
        roles.extend(homes.into_iter().map(|home| ((home, MANAGER_ROLE.to_owned()), Vec::new())));
    }
    Ok(roles.into_iter().map(|((namespace, name), rules)| Role { namespace, name, rules: merge(rules) }).collect())
}

/// `true` for a cluster-scoped resource of Kubernetes itself, which Roles cannot grant. A Namespace counts as in
/// itself.
fn is_in_no_namespace(rule: &RbacRule, resource: &str) -> bool {
    let plural = resource.split('/').next().unwrap_or(resource);
    let mut kinds = builtin::in_groups(&rule.groups).unwrap_or_default();
    kinds.retain(|kind| kind.plural == plural);
    !kinds.is_empty() && kinds.iter().all(|kind| !kind.namespaced && kind.kind != "Namespace")
}

/// A Role if it has a namespace, else a ClusterRole.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    pub namespace: Option<String>,
    pub name: String,
    pub rules: Vec<PolicyRule>,
}

impl Role {
    pub fn manifest(&self) -> Value {
        let metadata = self.metadata(self.name.clone());
        let rules = Some(self.rules.clone());
        match self.namespace {
            None => value(&v1::ClusterRole { metadata, rules, aggregation_rule: None }),
            Some(_) => value(&v1::Role { metadata, rules }),
        }
    }

    /// Binds the role to the operator's service account, in the role's own namespace if it has one.
    fn binding(&self) -> Value {
        let metadata = self.metadata(self.binding_name());
        let kind = if self.namespace.is_some() { "Role" } else { "ClusterRole" };
        let role_ref =
            RoleRef { api_group: Some("rbac.authorization.k8s.io".into()), kind: kind.into(), name: self.name.clone() };
        let subjects = Some(vec![Subject {
            kind: "ServiceAccount".into(),
            name: SERVICE_ACCOUNT.into(),
            namespace: Some(SYSTEM.into()),
            api_group: None,
        }]);
        match self.namespace {
            None => value(&v1::ClusterRoleBinding { metadata, role_ref, subjects }),
            Some(_) => value(&v1::RoleBinding { metadata, role_ref, subjects }),
        }
    }

    pub fn binding_name(&self) -> String {
        match self.name.as_str() {
            MANAGER_ROLE => MANAGER_BINDING.into(),
            other => format!("{other}-binding"),
        }
    }

    fn metadata(&self, name: String) -> ObjectMeta {
        ObjectMeta { name: Some(name), namespace: self.namespace.clone(), ..ObjectMeta::default() }
    }
}

fn value(object: &impl serde::Serialize) -> Value {
    serde_json::to_value(object).expect("Kubernetes objects have string keys and serialize without errors")
}

type Names = BTreeSet<String>;

/// The resources or URLs of a rule. It grants the product of its lists; no names mean every name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    groups: Names,
    resources: Names,
    names: Names,
    urls: Names,
}

type Rule = (Target, Names);

impl Target {
    /// Splits off the part that only a ClusterRole can grant. `*` belongs to the rest: it means all namespaced
    /// resources.
    fn parted(self, crds: &[CustomResourceDefinition]) -> (Option<Self>, Option<Self>) {
        if !self.urls.is_empty() {
            return (Some(self), None);
        }
        let is_own = |group: &str, plural: &str| {
            let mut specs = crds.iter().map(|crd| &crd.spec);
            specs.any(|spec| spec.scope == "Cluster" && spec.group == group && spec.names.plural == plural)
        };
        let is_in_no_namespace = |group: &String| {
            self.resources.iter().all(|resource| {
                let plural = resource.split('/').next().unwrap_or(resource);
                builtin::is_in_no_namespace(group, resource) || is_own(group, plural)
            })
        };
        let (everywhere, inside): (Names, Names) = self.groups.iter().cloned().partition(is_in_no_namespace);
        let of = |groups: Names| (!groups.is_empty()).then(|| Self { groups, ..self.clone() });
        (of(everywhere), of(inside))
    }

    /// Rules are sorted by these strings.
    fn sort_key(&self) -> String {
        let join = |words: &Names| words.iter().map(String::as_str).collect::<Vec<_>>().join("&");
        [&self.groups, &self.resources, &self.names, &self.urls].map(join).join(" + ")
    }

    fn groups(&mut self) -> &mut Names {
        &mut self.groups
    }

    fn resources(&mut self) -> &mut Names {
        &mut self.resources
    }

    fn urls(&mut self) -> &mut Names {
        &mut self.urls
    }
}

/// One rule for each resource; a rule for URLs stays whole.
fn split(rule: &RbacRule) -> Vec<Rule> {
    let words = |list: &[String]| list.iter().cloned().collect::<Names>();
    let core = |group: &String| if group == "core" { String::new() } else { group.clone() };
    let target = Target {
        groups: rule.groups.iter().map(core).collect(),
        resources: Names::new(),
        names: words(&rule.resource_names),
        urls: words(&rule.urls),
    };
    let verbs = words(&rule.verbs);
    if rule.resources.is_empty() {
        return vec![(target, verbs)];
    }
    let of_resource =
        |resource: &String| (Target { resources: Names::from([resource.clone()]), ..target.clone() }, verbs.clone());
    rule.resources.iter().map(of_resource).collect()
}

/// Merges without loss: first verbs of the same target, then targets that differ in one list only.
///
/// Source: controller-tools, pkg/rbac/parser.go. If rules have the same target after their targets were merged, it
/// keeps one of them and loses the verbs of the others; here such a rule gets the verbs of all. There is no form of
/// controller-gen to follow in this case, and all rules are merged once more, since the combined verbs may equal
/// those of other targets.
fn merge(rules: Vec<Rule>) -> Vec<PolicyRule> {
    let mut merged = by_target(rules);
    let mut met = true;
    while met {
        met = false;
        for list in [Target::resources, Target::groups, Target::urls] {
            let mut alike: BTreeMap<Rule, Names> = BTreeMap::new();
            for (mut target, verbs) in merged {
                let words = std::mem::take(list(&mut target));
                alike.entry((target, verbs)).or_default().extend(words);
            }
            let count = alike.len();
            merged = by_target(alike.into_iter().map(|((mut target, verbs), words)| {
                *list(&mut target) = words;
                (target, verbs)
            }));
            met |= merged.len() < count;
        }
    }
    let mut sorted: Vec<Rule> = merged.into_iter().collect();
    sorted.sort_by_cached_key(|(target, _)| target.sort_key());
    sorted.into_iter().map(policy_rule).collect()
}

fn by_target(rules: impl IntoIterator<Item = Rule>) -> BTreeMap<Target, Names> {
    let mut merged: BTreeMap<Target, Names> = BTreeMap::new();
    for (target, verbs) in rules {
        merged.entry(target).or_default().extend(verbs);
    }
    merged
}

fn policy_rule((target, verbs): Rule) -> PolicyRule {
    let list = |words: Names| (!words.is_empty()).then(|| words.into_iter().collect());
    let verbs = if verbs.contains("*") { vec!["*".into()] } else { verbs.into_iter().collect() };
    PolicyRule {
        api_groups: list(target.groups),
        resources: list(target.resources),
        resource_names: list(target.names),
        non_resource_urls: list(target.urls),
        verbs,
    }
}
