//! Roles edited by `opctl check --role PATH --fix`, on a real API server: it accepts them, and the service account then
//! may send the requests of the code. A second check reports nothing.
#![cfg(unix)]

use std::fs;

use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::helm::has_helm;
use crate::sandbox::Sandbox;

#[test]
fn the_api_server_accepts_a_fixed_role_and_the_check_is_silent() {
    let Some(cluster) = ControlPlane::start("role-fix", 0) else { return };
    cluster.kubectl(&["create", "namespace", "shop"], "");
    let sandbox = without_markers();
    fs::create_dir(sandbox.folder.join("deploy")).unwrap();
    fs::write(sandbox.folder.join("deploy/rbac.yaml"), ROLES).unwrap();
    assert!(!check(&sandbox, "deploy", &[]), "nothing is missing");
    assert!(check(&sandbox, "deploy", &["--fix"]));
    assert!(check(&sandbox, "deploy", &["--deny-warnings"]));
    let file = sandbox.folder.join("deploy/rbac.yaml");
    cluster.kubectl(&["apply", "-f", file.to_str().unwrap()], "");
    assert_allowed(&cluster, "system:serviceaccount:shop:shop");
}

#[test]
fn a_template_of_a_chart_is_fixed_where_its_rules_are_literal() {
    let Some(cluster) = ControlPlane::start("role-fix-chart", 0) else { return };
    if !has_helm("roles in charts") {
        return;
    }
    let sandbox = without_markers();
    let chart = sandbox.folder.join("chart");
    fs::create_dir_all(chart.join("templates")).unwrap();
    fs::write(chart.join("Chart.yaml"), "apiVersion: v2\nname: shop\nversion: 0.1.0\n").unwrap();
    fs::write(
        chart.join("values.yaml"),
        "secrets: true\nrules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n",
    )
    .unwrap();
    let template = chart.join("templates/rbac.yaml");
    fs::write(&template, TEMPLATE).unwrap();
    assert!(check(&sandbox, "chart", &["--fix"]));
    assert!(check(&sandbox, "chart", &[]));
    let fixed = fs::read_to_string(&template).unwrap();
    let (rules, rest) = fixed.split_once("  {{- if .Values.secrets }}\n").unwrap();
    assert!(TEMPLATE.ends_with(rest), "only rules outside of conditions are added:\n{fixed}");
    assert!(rules.contains("    verbs: [\"list\", \"watch\"]\n"), "{fixed}");
    let rendered = sandbox.command("helm").args(["template", "shop", "chart"]).output().unwrap();
    cluster.kubectl(&["apply", "-f", "-"], std::str::from_utf8(&rendered.stdout).unwrap());
    assert_allowed(&cluster, "system:serviceaccount:default:shop");

    // A role whose rules are values has no line to edit.
    let values = TEMPLATE.split_once("  - apiGroups").unwrap().0;
    fs::write(&template, format!("{values}  {{{{- toYaml .Values.rules | nindent 2 }}}}\n{}", binding())).unwrap();
    let before = fs::read_to_string(&template).unwrap();
    let output = sandbox.command("opctl").args(["check", "--role", "chart", "--fix"]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && errors.contains("the rules of the ClusterRole shop are not literal text"),
        "{errors}"
    );
    assert_eq!(fs::read_to_string(&template).unwrap(), before);
}

/// A crate that opctl did not scaffold.
fn without_markers() -> Sandbox {
    let mut sandbox = Sandbox::new();
    let lines = "opctl -q init shop --domain example.com --api cache/v1/Memcached && cd shop && rm -r PROJECT .opctl config \
                 && sed -i '/+kubebuilder:rbac/d' src/controller/cache/*.rs";
    assert!(sandbox.command("sh").args(["-c", lines]).status().unwrap().success());
    sandbox.folder = sandbox.root().join("shop");
    sandbox
}

fn check(sandbox: &Sandbox, role: &str, arguments: &[&str]) -> bool {
    let output = sandbox.command("opctl").args(["check", "--role", role]).args(arguments).output().unwrap();
    let text = [&output.stdout[..], &output.stderr].concat();
    println!("check --role {role} {arguments:?}\n{}", String::from_utf8_lossy(&text));
    output.status.success()
}

fn assert_allowed(cluster: &ControlPlane, account: &str) {
    for (verb, group, resource, subresource) in [
        ("list", "cache.example.com", "memcacheds", ""),
        ("watch", "cache.example.com", "memcacheds", ""),
        ("patch", "cache.example.com", "memcacheds", "status"),
        ("create", "events.k8s.io", "events", ""),
    ] {
        let attributes = json!({ "verb": verb, "group": group, "resource": resource, "subresource": subresource });
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": { "user": account, "resourceAttributes": attributes },
        });
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        let answer = cluster.kubectl(&["create", "--raw", path, "-f", "-"], &review.to_string());
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["status"]["allowed"], true, "{verb} {resource}: {answer}");
    }
}

fn binding() -> &'static str {
    &TEMPLATE[TEMPLATE.find("---\n").unwrap()..]
}

const ROLES: &str = r#"apiVersion: v1
kind: ServiceAccount
metadata: {name: shop, namespace: shop}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: shop
rules:
# The objects of users.
- apiGroups: [cache.example.com]
  resources: [memcacheds]
  verbs: [list] # a watch is missing
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: leader, namespace: shop}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: shop}
subjects: [{kind: ServiceAccount, name: shop, namespace: shop}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: leader, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: leader}
subjects: [{kind: ServiceAccount, name: shop}]
"#;

const TEMPLATE: &str = r#"apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .Release.Name | replace "release" "shop" }}
rules:
  - apiGroups: ["cache.example.com"]
    resources: ["memcacheds"]
    verbs: ["list"]
  {{- if .Values.secrets }}
  - apiGroups: [""]
    resources: ["secrets"]
    verbs: ["get"]
  {{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ .Release.Name | replace "release" "shop" }}}
subjects: [{kind: ServiceAccount, name: shop, namespace: {{ .Release.Namespace }}}]
"#;
