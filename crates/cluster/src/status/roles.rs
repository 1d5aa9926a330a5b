//! Compares the roles of the project and the cluster, rule by rule, and checks that they are bound to the operator.

use serde_json::Value;

use super::Project;
use super::gather::Facts;
use crate::findings::Finding;
use crate::rights::{Right, describe, granted};
use crate::{full_name, list, name};

pub fn examine(project: &Project, facts: &Facts) -> Vec<Finding> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    let (mut same, mut all) = (0, 0);
    for role in project.of("ClusterRole").chain(project.of("Role")) {
        all += 1;
        match facts.installed(role) {
            Err(why) => found.push(Finding::skipped(format!("the role `{}` cannot be read: {why}", full_name(role)))),
            Ok(None) => missing.push(full_name(role)),
            Ok(Some(installed)) => {
                let findings = check_role(role, installed);
                same += usize::from(findings.is_empty());
                found.extend(findings.into_iter().map(|finding| finding.about(full_name(role))));
            }
        }
    }
    for binding in project.of("ClusterRoleBinding").chain(project.of("RoleBinding")) {
        all += 1;
        match facts.installed(binding) {
            Err(why) => {
                found.push(Finding::skipped(format!("the binding `{}` cannot be read: {why}", full_name(binding))));
            }
            Ok(None) => missing.push(full_name(binding)),
            Ok(Some(installed)) => {
                same += usize::from(is_bound_equally(binding, installed));
                if !is_bound_equally(binding, installed) {
                    let what = format!("the binding `{}` has another role or other subjects", full_name(binding));
                    found.push(Finding::error(what).about(full_name(binding)).help(DEPLOY));
                }
            }
        }
    }
    if !missing.is_empty() {
        let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
        let what = match names.len() == all {
            true => format!("none of the {all} roles and bindings is in the cluster"),
            false => format!("the cluster does not have {}", names.join(", ")),
        };
        let finding = Finding::error(what);
        found.push(finding.with("missing", missing).help(DEPLOY));
    }
    if same > 0 && found.is_empty() {
        found.push(Finding::ok("roles and bindings are those of the project"));
    }
    found
}

/// The command that applies all objects again.
const DEPLOY: &str = "opctl deploy --image IMAGE";

fn check_role(role: &Value, installed: &Value) -> Vec<Finding> {
    let (ours, theirs) = (granted(role, None), granted(installed, None));
    let not_in = |rights: &[Right], others: &[Right]| -> Vec<Right> {
        rights.iter().filter(|right| !others.iter().any(|other| other.includes(right))).cloned().collect()
    };
    let mut found = Vec::new();
    let missing = not_in(&ours, &theirs);
    if !missing.is_empty() {
        let missing = describe(&missing.iter().collect::<Vec<_>>());
        let what = format!("the role `{}` of the cluster lacks {missing}: such requests are refused", name(role));
        found.push(Finding::error(what).help(DEPLOY));
    }
    let extra = not_in(&theirs, &ours);
    if !extra.is_empty() {
        let extra = describe(&extra.iter().collect::<Vec<_>>());
        let what = format!("the role `{}` of the cluster grants more than the project: {extra}", name(role));
        found.push(Finding::warning(what).help(DEPLOY));
    }
    found
}

fn is_bound_equally(binding: &Value, installed: &Value) -> bool {
    let subjects = |binding: &Value| {
        let subjects = list(&binding["subjects"]).iter();
        let mut subjects: Vec<[String; 3]> = subjects
            .map(|subject| {
                ["kind", "namespace", "name"].map(|key| subject[key].as_str().unwrap_or_default().to_owned())
            })
            .collect();
        subjects.sort();
        subjects
    };
    let role = |binding: &Value| (binding["roleRef"]["kind"].clone(), binding["roleRef"]["name"].clone());
    role(binding) == role(installed) && subjects(binding) == subjects(installed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn role(resource: &str, verbs: &[&str]) -> Value {
        let rule = json!({ "apiGroups": ["apps"], "resources": [resource], "verbs": verbs });
        json!({ "kind": "ClusterRole", "metadata": { "name": "shop-manager-role" }, "rules": [rule] })
    }

    #[test]
    fn rules_are_compared_as_sets() {
        let what = |ours: &Value, theirs: &Value| -> Vec<String> {
            check_role(ours, theirs).into_iter().map(|finding| finding.what).collect()
        };
        let ours = role("deployments", &["get", "list"]);
        assert_eq!(what(&ours, &role("deployments", &["list", "get"])), [""; 0]);
        assert_eq!(
            what(&ours, &role("deployments", &["list", "delete"])),
            [
                "the role `shop-manager-role` of the cluster lacks get deployments.apps: such requests are refused",
                "the role `shop-manager-role` of the cluster grants more than the project: delete deployments.apps",
            ]
        );
        let all = what(&ours, &role("*", &["*"]));
        assert_eq!(all.len(), 1, "a wildcard lacks nothing: {all:?}");
    }

    #[test]
    fn bindings_have_the_same_role_and_subjects() {
        let binding = |role: &str, accounts: &[&str]| {
            let subject = |name: &&str| json!({ "kind": "ServiceAccount", "namespace": "n", "name": name });
            let subjects: Vec<Value> = accounts.iter().map(subject).collect();
            json!({ "roleRef": { "kind": "Role", "name": role, "apiGroup": "x" }, "subjects": subjects })
        };
        assert!(is_bound_equally(&binding("a", &["b", "c"]), &binding("a", &["c", "b"])));
        assert!(!is_bound_equally(&binding("a", &["b"]), &binding("b", &["b"])));
        assert!(!is_bound_equally(&binding("a", &["b"]), &binding("a", &[])));
    }
}
