//! Several namespaces: an operator that watches two has no permissions in others.

use opctl_model::names::Namespace;
use opctl_model::project::Tree;
use opctl_source as source;
use opctl_source::emit::{self, Options};

use super::eventually;
use super::example::service_account;
use super::memcached::MEMCACHED;
use crate::control_plane::ControlPlane;
use crate::manager::Manager;

#[test]
fn reconciles_where_it_watches_and_has_rights() {
    let Some(cluster) = ControlPlane::start("scope", 0) else { return };
    MEMCACHED.make(&cluster, &["install"]);
    for namespace in ["system", "team-a", "team-b", "team-c"] {
        cluster.kubectl(&["create", "namespace", namespace], "");
    }
    cluster.kubectl(&["create", "serviceaccount", "controller-manager", "-n", "system"], "");
    grant(&cluster, &["team-a", "team-b"]);
    let account = service_account(&cluster, "system", "controller-manager");
    let watched = "--watch-namespace=team-a,team-b";
    let mut manager = Manager::start(&MEMCACHED.manager(), &account, "scope", &[watched]);
    manager.becomes_ready();

    let samples = MEMCACHED.path().join("config/samples");
    for namespace in ["team-c", "team-b", "team-a"] {
        cluster.kubectl(&["apply", "-n", namespace, "-k", samples.to_str().unwrap()], "");
    }
    let children = |namespace: &str| cluster.kubectl(&["get", "deployments", "-n", namespace, "-o", "name"], "");
    eventually("a Deployment in both", || !children("team-a").is_empty() && !children("team-b").is_empty());
    assert_eq!(children("team-c"), "");
    let total = || {
        let metrics = manager.metrics();
        let mut counts = metrics.lines().filter(|line| line.starts_with("controller_reconciles_total{"));
        let line = counts.find(|line| line.contains("success"))?.to_owned();
        line.rsplit_once(' ')?.1.parse::<u64>().ok()
    };
    eventually("both in one metric", || total().is_some_and(|count| count >= 2));
    let log = manager.log();
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
    assert!(manager.terminate().success());

    // Again, without the permissions in one of the namespaces.
    cluster.kubectl(&["delete", "rolebinding", "--all", "-n", "team-b"], "");
    let mut manager = Manager::start(&MEMCACHED.manager(), &account, "scope", &[watched]);
    assert_eq!(manager.exit().code(), Some(1));
    let log = manager.log();
    let reason = r#"cannot list resource "memcacheds" in API group "cache.example.com" in the namespace "team-b""#;
    assert!(log.contains("missing permissions: ") && log.contains(reason), "{log}");
}

/// Applies the roles and bindings that are generated from its markers for these namespaces.
fn grant(cluster: &ControlPlane, namespaces: &[&str]) {
    let markers = source::read_markers(&Tree::at(MEMCACHED.path()), "").operator.rbac;
    let namespaces = namespaces.iter().map(|name| Namespace::parse(name).unwrap()).collect();
    let manifests = emit::manifests(&[], &markers, &Options { namespaced: true, namespaces }).unwrap();
    for manifest in manifests.iter().filter(|file| file.path.starts_with("rbac/role")) {
        cluster.kubectl(&["apply", "-f", "-"], &manifest.text);
    }
}
