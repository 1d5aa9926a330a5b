//! Checks that the current user has the permissions that `opctl install`, `opctl deploy` and `make run` require.
//!
//! The first review detects an administrator. For other users, a second call of kubectl reviews all required
//! permissions.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cluster::Connection;
use super::{Finding, Target};
use crate::rendered;
use opctl_cluster::rights::{Right, ask, describe, granted};
use opctl_cluster::{Kubectl, is_kind, list};
use opctl_model::names::Kind;
use opctl_model::project::builtin;

pub fn examine(target: &Target, kubectl: &Kubectl, connection: &Connection) -> Vec<Finding> {
    let (crds, all) = (rendered::crd_values(&target.tree), rendered::values(&target.tree, "config/default"));
    if crds.is_empty() && all.is_empty() {
        return vec![Finding::skipped("nothing here is to be applied to a cluster")];
    }
    // An adopted crate need not have a Makefile.
    let run = if target.tree.has("Makefile") { "make run" } else { "cargo run" };
    let needs = needs(&crds, &all, run);
    let asked: BTreeSet<Right> = needs.iter().flat_map(|need| need.rights.iter().chain(&need.held)).cloned().collect();
    let asked: Vec<Right> = asked.into_iter().chain(may_escalate()).collect();
    let everything = Right::of("*", "*", "*");
    let answers = ask(kubectl, std::slice::from_ref(&everything)).and_then(|answers| match answers[..] {
        [true] => Ok(vec![true; asked.len()]),
        _ => ask(kubectl, &asked),
    });
    let answers = match answers {
        Ok(answers) => answers,
        Err(reason) => return vec![Finding::skipped(format!("cannot read permissions from the cluster ({reason})"))],
    };
    let granted =
        asked.into_iter().zip(answers).filter(|(_, is_granted)| *is_granted).map(|(right, _)| right).collect();
    needs.iter().map(|need| check(need, &granted, connection.user.as_deref())).collect()
}

/// The permissions that a command requires.
struct Need {
    command: &'static str,
    rights: BTreeSet<Right>,
    /// The permissions that the applied roles grant. The API server rejects a role with more permissions than its
    /// author has, unless the author may `escalate` and `bind`.
    held: BTreeSet<Right>,
}

/// The permissions to apply a role that grants more than its author has.
fn may_escalate() -> [Right; 2] {
    ["escalate", "bind"].map(|verb| Right::of(RBAC, "clusterroles", verb))
}

const RBAC: &str = "rbac.authorization.k8s.io";

/// The permissions for each command. `crds` are the objects of `config/crd`, `all` those of `config/default`, and `run`
/// is the command that runs the operator with the permissions of the user.
fn needs(crds: &[Value], all: &[Value], run: &'static str) -> Vec<Need> {
    let crd = |verb: &&str| Right::of("apiextensions.k8s.io", "customresourcedefinitions", verb);
    let install = ["create", "get", "patch"].iter().map(crd);
    let roles = all.iter().filter(|object| is_kind(object, "Role") || is_kind(object, "ClusterRole"));
    let needs = [
        Need {
            command: "opctl install",
            rights: if crds.is_empty() { BTreeSet::new() } else { install.collect() },
            held: BTreeSet::new(),
        },
        Need {
            command: "opctl deploy",
            rights: all.iter().flat_map(applied).collect(),
            held: roles.flat_map(|role| granted(role, role["metadata"]["namespace"].as_str())).collect(),
        },
        Need { command: run, rights: of_the_operator(all), held: BTreeSet::new() },
    ];
    needs.into_iter().filter(|need| !need.rights.is_empty()).collect()
}

/// The permissions to apply an object.
fn applied(object: &Value) -> Vec<Right> {
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let kind = object["kind"].as_str().unwrap_or_default();
    let user_group = if group.is_empty() { "core" } else { group };
    // The plural of an external kind is unknown; most are regular.
    let resource = match builtin::Builtin::find(user_group, version, kind) {
        Some(builtin) => builtin.plural.to_owned(),
        None => Kind::parse(kind).map(|kind| kind.plural().to_string()).unwrap_or_default(),
    };
    let namespace = match builtin::is_in_no_namespace(group, &resource) {
        true => None,
        false => object["metadata"]["namespace"].as_str().map(String::from),
    };
    let right = |verb: &&str| Right { namespace: namespace.clone(), ..Right::of(group, &resource, verb) };
    ["create", "get", "patch"].iter().map(right).collect()
}

/// The permissions that are bound to the service accounts of the Deployments.
fn of_the_operator(all: &[Value]) -> BTreeSet<Right> {
    let deployments = all.iter().filter(|object| is_kind(object, "Deployment"));
    let accounts: Vec<&Value> =
        deployments.map(|deployment| &deployment["spec"]["template"]["spec"]["serviceAccountName"]).collect();
    let mut rights = BTreeSet::new();
    for binding in all.iter().filter(|object| is_kind(object, "RoleBinding") || is_kind(object, "ClusterRoleBinding")) {
        let is_bound = |subject: &Value| subject["kind"] == "ServiceAccount" && accounts.contains(&&subject["name"]);
        if !list(&binding["subjects"]).iter().any(is_bound) {
            continue;
        }
        let namespace = binding["metadata"]["namespace"].as_str().filter(|_| is_kind(binding, "RoleBinding"));
        let of_binding = |role: &&Value| {
            (&role["kind"], &role["metadata"]["name"]) == (&binding["roleRef"]["kind"], &binding["roleRef"]["name"])
                && (is_kind(role, "ClusterRole") || role["metadata"]["namespace"].as_str() == namespace)
        };
        rights.extend(all.iter().filter(of_binding).flat_map(|role| granted(role, namespace)));
    }
    rights
}

fn check(need: &Need, granted: &BTreeSet<Right>, user: Option<&str>) -> Finding {
    let who = user.map_or("you".into(), |user| format!("`{user}`"));
    let missing: Vec<&Right> = need.rights.difference(granted).collect();
    if !missing.is_empty() {
        let what = format!("{who} may not do what `{}` needs: {}", need.command, describe(&missing));
        return Finding::warning(what).help(grant(need, user));
    }
    let not_held: Vec<&Right> = need.held.difference(granted).collect();
    if !not_held.is_empty() && !may_escalate().iter().all(|right| granted.contains(right)) {
        let what = format!(
            "{who} may not apply the roles that `{}` brings, which grant what {who} may not do: {}",
            need.command,
            describe(&not_held)
        );
        return Finding::warning(what).help(grant(need, user));
    }
    Finding::ok(format!("{who} may do what `{}` needs", need.command))
}

/// The commands with which an administrator grants the permissions.
fn grant(need: &Need, user: Option<&str>) -> String {
    let account = user.and_then(|user| user.strip_prefix("system:serviceaccount:"));
    let subject = match (account, user) {
        (Some(account), _) => format!("--serviceaccount={account}"),
        (None, Some(user)) if user.chars().all(|c| c.is_ascii_alphanumeric() || "-_.@:/".contains(c)) => {
            format!("--user={user}")
        }
        (None, Some(user)) => format!("--user='{}'", user.replace('\'', r"'\''")),
        (None, None) => "--user=NAME".into(),
    };
    let words = |text: &str| -> String {
        let legal = text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
        legal.collect::<String>().trim_matches('-').to_owned()
    };
    let name = words(&format!("{} {}", need.command, account.or(user).unwrap_or("name")));
    if need.command == "opctl install" {
        // One rule is enough, so these commands grant no further permissions.
        let verbs: Vec<&str> = need.rights.iter().map(|right| right.verb.as_str()).collect();
        let resource = "customresourcedefinitions.apiextensions.k8s.io";
        return format!(
            "an administrator runs these:\nkubectl create clusterrole {name} --verb={} --resource={resource}\n\
             kubectl create clusterrolebinding {name} --clusterrole={name} {subject}",
            verbs.join(",")
        );
    }
    format!(
        "an administrator runs this:\nkubectl create clusterrolebinding {name} --clusterrole=cluster-admin {subject}"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use opctl_cluster::findings::Severity;

    fn rules(kind: &str, name: &str, namespace: Option<&str>, rules: Value) -> Value {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, "rules": rules})
    }

    fn binding(kind: &str, role: [&str; 2], namespace: Option<&str>, account: &str) -> Value {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": "b", "namespace": namespace},
            "roleRef": {"kind": role[0], "name": role[1]}, "subjects": [{"kind": "ServiceAccount", "name": account}],
        })
    }

    fn operator() -> Vec<Value> {
        let rule = |group: &str, resource: &str, verb: &str| json!([{"apiGroups": [group], "resources": [resource], "verbs": [verb]}]);
        vec![
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "shop", "namespace": "shop-system"},
                "spec": {"template": {"spec": {"serviceAccountName": "shop"}}},
            }),
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop-system"}}),
            rules("ClusterRole", "shop", None, rule("example.com", "as/status", "patch")),
            rules("ClusterRole", "viewer", None, rule("example.com", "as", "get")),
            rules("Role", "leader", Some("shop-system"), rule("coordination.k8s.io", "leases", "update")),
            binding("ClusterRoleBinding", ["ClusterRole", "shop"], None, "shop"),
            binding("RoleBinding", ["Role", "leader"], Some("shop-system"), "shop"),
            binding("ClusterRoleBinding", ["ClusterRole", "viewer"], None, "somebody-else"),
        ]
    }

    fn need(command: &str) -> Need {
        let crds = [json!({"kind": "CustomResourceDefinition"})];
        needs(&crds, &operator(), "make run").into_iter().find(|need| need.command == command).unwrap()
    }

    #[test]
    fn the_operator_needs_what_is_bound_to_its_account() {
        let leases =
            Right { namespace: Some("shop-system".into()), ..Right::of("coordination.k8s.io", "leases", "update") };
        let status = Right::of("example.com", "as/status", "patch");
        assert_eq!(need("make run").rights, BTreeSet::from([leases.clone(), status.clone()]));
        assert_eq!(need("opctl deploy").held, BTreeSet::from([leases, status, Right::of("example.com", "as", "get")]));
    }

    #[test]
    fn an_object_is_applied_where_it_is() {
        let rights = need("opctl deploy").rights;
        assert!(rights.contains(&Right::of("", "namespaces", "create")), "{rights:?}");
        let deployment = Right { namespace: Some("shop-system".into()), ..Right::of("apps", "deployments", "patch") };
        assert!(rights.contains(&deployment), "{rights:?}");
        assert!(rights.contains(&Right::of(RBAC, "clusterroles", "patch")), "{rights:?}");
    }

    #[test]
    fn a_role_with_more_than_its_author_has_is_refused_unless_they_may_escalate() {
        let need = need("opctl deploy");
        let mut granted = need.rights.clone();
        let finding = check(&need, &granted, Some("jane"));
        assert_eq!(finding.severity, Severity::Warning);
        assert!(finding.what.contains("get as.example.com; patch as.example.com/status"), "{}", finding.what);
        granted.extend(may_escalate());
        assert_eq!(check(&need, &granted, Some("jane")).severity, Severity::Ok);
        let all = need.rights.union(&need.held).cloned().collect();
        assert_eq!(check(&need, &all, Some("jane")).severity, Severity::Ok);
    }

    #[test]
    fn who_is_granted_what_stands_in_the_help() {
        let need = need("opctl install");
        let result = |user| check(&need, &BTreeSet::new(), user);
        let finding = result(Some("system:serviceaccount:ci:robot"));
        assert!(finding.what.ends_with("create, get, patch customresourcedefinitions.apiextensions.k8s.io"));
        assert_eq!(
            finding.help[0],
            "an administrator runs these:\n\
             kubectl create clusterrole opctl-install-ci-robot --verb=create,get,patch --resource=customresourcedefinitions.apiextensions.k8s.io\n\
             kubectl create clusterrolebinding opctl-install-ci-robot --clusterrole=opctl-install-ci-robot --serviceaccount=ci:robot"
        );
        assert!(result(Some("O'Neil x")).help[0].ends_with(r"--user='O'\''Neil x'"));
        assert!(result(None).help[0].ends_with("--user=NAME"));
    }
}
