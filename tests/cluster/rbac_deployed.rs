//! The rendered `config/default` on a real API server: a client with the token of the operator's service account may do
//! exactly what the markers allow.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use opctl_model::RbacRule;
use opctl_model::project::Tree;
use opctl_source as source;
use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::permissions::{allows, assert_answers, requests};
use crate::sandbox::Sandbox;

#[test]
fn a_deployed_operator_may_do_what_its_markers_say_and_nothing_beside() {
    let Some(cluster) = ControlPlane::start("rbac-deployed", 0) else { return };
    for namespace in ["zoo", "park"] {
        cluster.kubectl(&["create", "namespace", namespace], "");
    }
    let cluster_wide = project("shop", "", &[MARKERS, "// +kubebuilder:rbac:urls=/metrics;/logs/*,verbs=get\n"]);
    deploy(&cluster, &cluster_wide.folder, "shop", None);
    let namespaced = project("stall", "--namespaced", &[MARKERS]);
    deploy(&cluster, &namespaced.folder, "stall", Some("stall-system"));
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/memcached");
    deploy(&cluster, &example, "memcached-operator", None);

    // After the markers were removed, so are their Roles, without manual edits.
    project_with(&cluster_wide, &[]);
    let rendered = cluster.kubectl(&["kustomize", cluster_wide.folder.join("config/default").to_str().unwrap()], "");
    assert!(!rendered.contains("zoo") && !rendered.contains("park"), "{rendered}");
}

/// Two Roles of the same name in two namespaces, one with another name, and one in the operator's own namespace.
const MARKERS: &str = r#"
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps;batch,resources=deployments,verbs=patch
// +kubebuilder:rbac:groups=core,resources=configmaps,resourceNames=lock;"1.0",verbs=get;patch
// +kubebuilder:rbac:groups="",resources=pods;pods/log,verbs=get
// +kubebuilder:rbac:groups=*,resources=*/scale,verbs=*
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get,namespace=zoo
// +kubebuilder:rbac:groups=apps,resources=daemonsets,verbs=get;delete,namespace=park
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=patch,namespace=zoo,roleName=keeper.v1
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=update,namespace=system
"#;

/// A new project with markers.
fn project(name: &str, option: &str, markers: &[&str]) -> Sandbox {
    let mut sandbox = Sandbox::new();
    let command = format!("opctl -q init {name} --domain example.com --api depot/v1/Shelf {option}");
    assert!(sandbox.command("sh").args(["-c", &command]).status().unwrap().success());
    sandbox.folder = sandbox.root().join(name);
    project_with(&sandbox, markers);
    sandbox
}

/// Replaces the markers, and generates the manifests again.
fn project_with(project: &Sandbox, markers: &[&str]) {
    let controllers = project.folder.join("src/controller/mod.rs");
    let text = fs::read_to_string(&controllers).unwrap();
    let (own, _) = text.split_once("// Added").unwrap_or((&text, ""));
    fs::write(&controllers, format!("{own}// Added\n{}", markers.concat())).unwrap();
    assert!(project.command("opctl").args(["-q", "manifests"]).status().unwrap().success());
}

/// Applies a project like `make deploy`, and sends reviews as its operator.
fn deploy(cluster: &ControlPlane, folder: &Path, name: &str, default_namespace: Option<&str>) {
    let system = format!("{name}-system");
    let rendered = cluster.kubectl(&["kustomize", folder.join("config/default").to_str().unwrap()], "");
    cluster.kubectl(&["apply", "--server-side", "-f", "-"], &rendered);

    let mut rules: Vec<RbacRule> = source::read_markers(&Tree::at(folder), "").operator.rbac;
    for rule in &mut rules {
        rule.namespace =
            rule.namespace.take().map(|namespace| if namespace == "system" { system.clone() } else { namespace });
    }
    let requests = requests(&rules, &[&system, "zoo", "park", "default"]);
    // Cluster-scoped resources are granted by a ClusterRole, even for a namespaced operator.
    let is_in_none = |rule: &RbacRule| {
        rule.resources.iter().all(|resource| ["tokenreviews", "subjectaccessreviews"].contains(&&**resource))
    };
    let default_of = |rule: &RbacRule| default_namespace.filter(|_| !is_in_none(rule));
    let expected: Vec<bool> =
        requests.iter().map(|request| rules.iter().any(|rule| allows(rule, default_of(rule), request))).collect();
    assert!(expected.contains(&true) && expected.contains(&false));
    let reviews: Vec<Value> = requests.iter().map(|request| request.review(None)).collect();
    let kubeconfig = kubeconfig(cluster, &system, &format!("{name}-controller-manager"));
    assert_answers(cluster, &["--kubeconfig", &kubeconfig], &reviews, &expected);
    let allowed = expected.iter().filter(|allowed| **allowed).count();
    eprintln!("{name}: {} questions, {allowed} allowed", expected.len());
}

/// The kubeconfig of a client with only the token of this service account.
fn kubeconfig(cluster: &ControlPlane, namespace: &str, account: &str) -> String {
    let token = cluster.kubectl(&["create", "token", account, "--namespace", namespace], "");
    let mut config: Value =
        serde_json::from_str(&cluster.kubectl(&["config", "view", "--raw", "--minify", "-o", "json"], "")).unwrap();
    config["users"][0]["user"] = json!({"token": token.trim()});
    let path = cluster.folder.join(format!("{account}.kubeconfig"));
    fs::write(&path, config.to_string()).unwrap();
    path.to_str().unwrap().into()
}
