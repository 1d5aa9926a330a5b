//! Objects that an earlier release of the project applied, and that are no longer part of it.

use serde_json::Value;

use super::Project;
use super::gather::Facts;
use crate::findings::Finding;
use crate::{full_name, is_kind, list, name};

pub fn examine(project: &Project, facts: &Facts) -> Vec<Finding> {
    let namespace = project.of("Deployment").find_map(|it| it["metadata"]["namespace"].as_str()).unwrap_or_default();
    let is_ours = |object: &&Value| is_ours(object, namespace, project);
    let mut found: Vec<Finding> = facts.others.objects.iter().filter(is_ours).map(leftover).collect();
    if let Some(why) = facts.others.denied("") {
        found.push(Finding::skipped(format!("cannot search for leftovers: {why}")));
    }
    found
}

/// `true` if an object whose name resembles those of the project belongs to it.
fn is_ours(object: &Value, namespace: &str, project: &Project) -> bool {
    let is_group = |group: &Value| group.as_str().is_some_and(|group| project.has_group(group));
    let is_namespace = |value: &Value| value["namespace"] == namespace;
    match object["kind"].as_str().unwrap_or_default() {
        "CustomResourceDefinition" => is_group(&object["spec"]["group"]),
        "ClusterRole" => list(&object["rules"]).iter().any(|rule| list(&rule["apiGroups"]).iter().any(is_group)),
        "ClusterRoleBinding" => list(&object["subjects"]).iter().any(is_namespace),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            list(&object["webhooks"]).iter().any(|webhook| is_namespace(&webhook["clientConfig"]["service"]))
        }
        _ => is_namespace(&object["metadata"]),
    }
}

fn leftover(object: &Value) -> Finding {
    let kind = object["kind"].as_str().unwrap_or_default();
    let what = format!("the {kind} `{}` is in the cluster, and the project does not have it", full_name(object));
    let finding = Finding::warning(what).about(full_name(object)).with("kind", kind);
    if is_kind(object, "CustomResourceDefinition") {
        let name = name(object);
        return finding.help(format!("deleting it deletes its objects: kubectl get {name} --all-namespaces"));
    }
    let namespace = object["metadata"]["namespace"].as_str().map(|it| format!(" --namespace {it}")).unwrap_or_default();
    finding.help(format!("kubectl delete {} {}{namespace}", kind.to_lowercase(), name(object)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_ours_is_about_our_groups_or_in_our_namespace() {
        let crd = json!({ "kind": "CustomResourceDefinition", "spec": { "group": "b.c" } });
        let project = Project { name: "shop".into(), objects: vec![crd], placeholder: "controller" };
        let is_ours = |object: Value| is_ours(&object, "shop-system", &project);
        let role = |group: &str| json!({ "kind": "ClusterRole", "rules": [{ "apiGroups": [group] }] });
        assert!(is_ours(role("b.c")));
        assert!(!is_ours(role("c")), "of another project with a longer name");
        let binding =
            |namespace: &str| json!({ "kind": "ClusterRoleBinding", "subjects": [{ "namespace": namespace }] });
        assert!(is_ours(binding("shop-system")));
        assert!(!is_ours(binding("shop-front-system")));
        assert!(is_ours(json!({ "kind": "CustomResourceDefinition", "spec": { "group": "b.c" } })));
        assert!(is_ours(json!({ "kind": "Role", "metadata": { "namespace": "shop-system" } })));
    }

    #[test]
    fn the_help_deletes_it_unless_it_is_a_crd() {
        let role = json!({ "kind": "Role", "metadata": { "name": "shop-a", "namespace": "n" } });
        assert_eq!(leftover(&role).help, ["kubectl delete role shop-a --namespace n"]);
    }
}
