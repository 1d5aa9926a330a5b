//! What the operator logs when the API server fails it: each failure once, in words of its own.

use crate::control_plane::ControlPlane;
use crate::eventually;
use crate::memcached::MEMCACHED;

#[test]
fn no_library_repeats_what_the_operator_says() {
    let Some(cluster) = ControlPlane::start("logs", 0) else { return };
    MEMCACHED.make(&cluster, &["install"]);
    MEMCACHED.apply(&cluster);
    let manager = MEMCACHED.run(&cluster, &[]);
    assert!(!manager.log().contains("leading"), "nobody elects:\n{}", manager.log());

    // Its watches go on without the right to them until they break off.
    cluster.kubectl(&["delete", "clusterrolebinding", "memcached-operator-manager-rolebinding"], "");
    assert!(cluster.lock().unwrap().kill("kube-apiserver"));
    eventually("a word about the API server that is gone", || manager.log().contains("failed, it starts again"));
    cluster.lock().unwrap().restart("kube-apiserver").unwrap();
    eventually("a word about the right that it lacks", || manager.log().contains(" is forbidden"));
    let log = manager.log();
    let is_bad = |line: &&str| line.contains("WARN") || line.contains("ERROR");
    let lines: Vec<&str> = log.lines().filter(is_bad).filter(|line| !line.contains(" opctl_runtime::")).collect();
    assert_eq!(lines, Vec::<&str>::new());
}
