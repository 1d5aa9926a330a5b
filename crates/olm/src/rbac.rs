//! Roles and bindings → `permissions` and `clusterPermissions` of the CSV, from which OLM creates roles, bindings and
//! service accounts.
//!
//! Bindings of other subjects or to other roles remain separate objects.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::deployments::Deployments;
use super::draft::{Draft, Fate};
use super::object::{Object, text};
use crate::Issuing;
use crate::deployments::ISSUES;
use crate::diagnostics::{OP501, OP502, OP503};

const GROUP: &str = "rbac.authorization.k8s.io";

type Rules = BTreeMap<String, Vec<Value>>;

/// `permissions` and `clusterPermissions`, sorted by account.
pub fn split<'a>(
    draft: &mut Draft<'a>,
    deployments: &Deployments<'a>,
    extra: &BTreeSet<String>,
    issuing: &[Issuing],
) -> (Vec<Value>, Vec<Value>) {
    let accounts: BTreeSet<String> = deployments.accounts.union(extra).cloned().collect();
    let mut split = Split { draft, deployments, issuing, accounts, consumed: BTreeSet::new(), kept: BTreeSet::new() };
    let (mut namespaced, mut cluster) = (Rules::new(), Rules::new());
    for kind in ["RoleBinding", "ClusterRoleBinding"] {
        let bindings: Vec<(usize, &Object)> = split.draft.all(GROUP, kind).collect();
        for (at, binding) in bindings {
            split.binding(at, binding, if kind == "RoleBinding" { &mut namespaced } else { &mut cluster });
        }
    }
    split.roles();
    [&mut namespaced, &mut cluster].into_iter().for_each(|rules| rules.retain(|_, rules| !rules.is_empty()));
    split.accounts(&mut namespaced, &cluster);
    (permissions(namespaced), permissions(cluster))
}

fn permissions(rules: Rules) -> Vec<Value> {
    rules.into_iter().map(|(account, rules)| json!({ "serviceAccountName": account, "rules": rules })).collect()
}

struct Split<'d, 'a> {
    draft: &'d mut Draft<'a>,
    deployments: &'d Deployments<'a>,
    issuing: &'d [Issuing],
    accounts: BTreeSet<String>,
    /// The roles whose rules were copied to the CSV.
    consumed: BTreeSet<usize>,
    /// The roles referenced by a binding in a file.
    kept: BTreeSet<usize>,
}

impl Split<'_, '_> {
    fn binding(&mut self, at: usize, binding: &Object, into: &mut Rules) {
        let home = self.deployments.namespace.as_str();
        let subjects = binding.list("/subjects");
        let is_own = |subject: &&Value| self.is_own(subject);
        let own: Vec<String> =
            subjects.iter().filter(is_own).map(|subject| text(subject, "/name").to_owned()).collect();
        let others: Vec<Value> = subjects.iter().filter(|subject| !self.is_own(subject)).cloned().collect();
        self.unused_accounts(binding, &others);
        let is_elsewhere = binding.kind() == "RoleBinding" && binding.namespace() != home;
        let is_watched = is_elsewhere && self.deployments.watched.contains(binding.namespace());
        let role = self.role(binding);
        if is_elsewhere && !is_watched {
            let finding = OP502.warning(format!("{} is not in the bundle", binding.title()))
                .at(binding.span("/metadata/namespace"), "OLM grants permissions in the namespaces of the operator only")
                .help("bind the role with a ClusterRoleBinding if the operator may have its permissions in all namespaces")
                .help("or let users apply it separately, and document it in `spec.description` of the CSV");
            return self.draft.drop(at, finding);
        }
        if own.is_empty() {
            self.kept.extend(role);
            return self.keep(at, binding, others);
        }
        let rules = match role {
            Some(role) => self.rules(role),
            None => match provided(binding.text("/roleRef/name")) {
                Some(rules) if binding.text("/roleRef/kind") == "ClusterRole" => rules,
                _ => return self.keep(at, binding, subjects.to_vec()),
            },
        };
        if is_watched {
            let namespace = binding.namespace();
            let finding = OP502
                .warning(format!("{} becomes a permission in other namespaces", binding.title()))
                .at(binding.span("/metadata/namespace"), "under OLM, the OperatorGroup lists the namespaces")
                .help(format!("create the OperatorGroup with `{namespace}` in `targetNamespaces`"));
            self.draft.findings.push(finding);
        }
        for account in own {
            let known = into.entry(account).or_default();
            for rule in &rules {
                if !known.contains(rule) {
                    known.push(rule.clone());
                }
            }
        }
        let had_rules = role.is_some_and(|role| !self.draft.objects[role].list("/rules").is_empty());
        let fate = match binding.kind() {
            _ if had_rules && rules.is_empty() => Fate::Olm(ISSUES.into()),
            "RoleBinding" => Fate::Csv("permissions"),
            _ => Fate::Csv("clusterPermissions"),
        };
        self.draft.went(at, fate.clone());
        if let Some(role) = role {
            self.draft.went(role, fate);
            self.consumed.insert(role);
        }
        if !others.is_empty() {
            self.kept.extend(role);
            self.keep(at, binding, others);
        }
    }

    /// `true` if a subject is a service account of the operator's Deployments.
    fn is_own(&self, subject: &Value) -> bool {
        text(subject, "/kind") == "ServiceAccount"
            && text(subject, "/namespace") == self.deployments.namespace
            && self.accounts.contains(text(subject, "/name"))
    }

    /// Reports bindings of accounts that nothing uses; usually, the Deployment has the wrong account.
    fn unused_accounts(&mut self, binding: &Object, others: &[Value]) {
        for subject in others {
            let (name, namespace) = (text(subject, "/name"), text(subject, "/namespace"));
            let exists = self.draft.all("", "ServiceAccount").any(|(_, account)| account.name() == name);
            if text(subject, "/kind") == "ServiceAccount" && namespace == self.deployments.namespace && !exists {
                let used: Vec<String> = self.accounts.iter().map(|name| format!("`{name}`")).collect();
                let message =
                    format!("{} grants permissions to the account `{name}`, which no Deployment uses", binding.title());
                let finding = OP503
                    .warning(message)
                    .at(binding.span("/subjects"), format!("the Deployments run as {}", used.join(", ")))
                    .help(format!("set `serviceAccountName: {name}` in the Deployment, or bind its account"))
                    .help(format!("for Pods that the operator creates: `--extra-service-accounts {name}`"));
                self.draft.findings.push(finding);
            }
        }
    }

    /// Writes a binding with these subjects to a file. Their namespace does not change at installation.
    fn keep(&mut self, at: usize, binding: &Object, subjects: Vec<Value>) {
        let home = &self.deployments.namespace;
        if let Some(subject) = subjects.iter().position(|subject| text(subject, "/namespace") == home) {
            let name = binding.text("/roleRef/name");
            let finding = OP503
                .warning(format!("{} is right in the namespace `{home}` only", binding.title()))
                .at(
                    binding.span(&format!("/subjects/{subject}/namespace")),
                    "OLM does not change the namespace of a subject",
                )
                .help(format!(
                    "install the bundle in `{home}`, which `operatorframework.io/suggested-namespace` suggests"
                ))
                .help(format!("or copy the rules of `{name}` to a role of the project, so that they are in the CSV"));
            self.draft.findings.push(finding);
        }
        let mut value = binding.value.clone();
        value["subjects"] = subjects.into();
        self.draft.keep(at, value);
    }

    /// The role of a binding, if it is in the input.
    fn role(&self, binding: &Object) -> Option<usize> {
        let (kind, name) = (binding.text("/roleRef/kind"), binding.text("/roleRef/name"));
        let is_it =
            |role: &Object| role.name() == name && (kind == "ClusterRole" || role.namespace() == binding.namespace());
        self.draft.all(GROUP, kind).find(|(_, role)| is_it(role)).map(|(at, _)| at)
    }

    /// The rules of a role, aggregated if necessary.
    fn rules(&mut self, at: usize) -> Vec<Value> {
        let role = &self.draft.objects[at];
        if role.value.get("aggregationRule").is_none() {
            let rules = role.list("/rules");
            let Some(Issuing { with, without }) =
                self.issuing.iter().find(|issuing| issuing.with.iter().all(|rule| rules.contains(rule)))
            else {
                return rules.to_vec();
            };
            self.draft.went(at, Fate::Olm(ISSUES.into()));
            let others = rules.iter().filter(|rule| !with.contains(rule));
            return without.iter().chain(others).cloned().collect();
        }
        let selectors = role.list("/aggregationRule/clusterRoleSelectors");
        let is_selected = |other: &Object| {
            selectors.iter().any(|selector| {
                let labels = selector.get("matchLabels").and_then(Value::as_object);
                let has = |(key, value): (&String, &Value)| other.value["metadata"]["labels"].get(key) == Some(value);
                labels.is_some_and(|labels| !labels.is_empty() && labels.iter().all(has))
            })
        };
        let selected = self.draft.all(GROUP, "ClusterRole").filter(|(_, other)| is_selected(other));
        let rules = selected.flat_map(|(_, other)| other.list("/rules").to_vec()).collect();
        let finding = OP501
            .warning(format!("the aggregation of {} is not in the bundle", role.title()))
            .at(role.span("/aggregationRule"), "the CSV has the rules of the roles in the project only")
            .help("list the rules in the role itself");
        self.draft.findings.push(finding);
        rules
    }

    /// Writes the roles that no binding in the CSV has consumed, and those referenced by a binding in a file.
    fn roles(&mut self) {
        for kind in ["Role", "ClusterRole"] {
            let roles: Vec<(usize, &Object)> = self.draft.all(GROUP, kind).collect();
            for (at, role) in roles {
                if self.consumed.contains(&at) && !self.kept.contains(&at) {
                    continue;
                }
                if kind == "Role" && role.namespace() != self.deployments.namespace {
                    if !self.consumed.contains(&at) {
                        let finding = OP502
                            .warning(format!("{} is not in the bundle", role.title()))
                            .at(
                                role.span("/metadata/namespace"),
                                "OLM creates objects in the operator's namespace only",
                            )
                            .help("make it a ClusterRole, or let users apply it separately");
                        self.draft.drop(at, finding);
                    }
                    continue;
                }
                self.draft.keep(at, role.value.clone());
            }
        }
    }

    /// OLM creates service accounts that have permissions, and no others.
    fn accounts(&mut self, namespaced: &mut Rules, cluster: &Rules) {
        let objects: Vec<(usize, &Object)> = self.draft.all("", "ServiceAccount").collect();
        for (at, account) in objects {
            let is_own = account.namespace() == self.deployments.namespace && self.accounts.contains(account.name());
            if !is_own {
                continue;
            }
            self.draft.went(at, Fate::Olm("creates it for the permissions".into()));
            let annotations = account.value["metadata"]["annotations"].as_object();
            let lost = [
                ("/metadata/annotations", annotations.is_some_and(|all| !all.is_empty())),
                ("/imagePullSecrets", !account.list("/imagePullSecrets").is_empty()),
                ("/secrets", !account.list("/secrets").is_empty()),
                ("/automountServiceAccountToken", account.value.get("automountServiceAccountToken").is_some()),
            ];
            for (pointer, _) in lost.into_iter().filter(|(_, is_lost)| *is_lost) {
                let field = pointer.rsplit('/').next().unwrap_or_default();
                let finding = OP501
                    .warning(format!("`{field}` of {} is not in the bundle", account.title()))
                    .at(account.span(pointer), "OLM creates the account with its name alone")
                    .help("set what Pods need in the pod template of the Deployment")
                    .help("or have the users of the bundle change the account after the installation");
                self.draft.findings.push(finding);
            }
        }
        for account in &self.accounts {
            if account != "default" && !cluster.contains_key(account) {
                namespaced.entry(account.clone()).or_default();
            }
        }
    }
}

/// The rules of roles in every cluster, limited to those that operators bind.
fn provided(role: &str) -> Option<Vec<Value>> {
    let rule =
        |group: &str, resource: &str| json!({ "apiGroups": [group], "resources": [resource], "verbs": ["create"] });
    match role {
        "system:auth-delegator" => Some(vec![
            rule("authentication.k8s.io", "tokenreviews"),
            rule("authorization.k8s.io", "subjectaccessreviews"),
        ]),
        "cluster-admin" => Some(vec![
            json!({ "apiGroups": ["*"], "resources": ["*"], "verbs": ["*"] }),
            json!({ "nonResourceURLs": ["*"], "verbs": ["*"] }),
        ]),
        _ => None,
    }
}
