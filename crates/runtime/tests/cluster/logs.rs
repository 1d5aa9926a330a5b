//! The log of an operator during failures of the API server: each failure once, with a clear message.

use crate::control_plane::ControlPlane;
use crate::example::CACHES;
use crate::{RETRIES, within};

#[test]
fn no_library_repeats_what_the_operator_says() {
    let Some(cluster) = ControlPlane::start("logs", 0) else { return };
    CACHES.install(&cluster);
    CACHES.grant(&cluster);
    let manager = CACHES.run(&cluster, &["--log-format=json"]);
    assert!(!manager.log().contains("leading"), "nobody elects:\n{}", manager.log());

    // Open watches continue without the permission until they are interrupted.
    cluster.kubectl(&["delete", "clusterrolebinding", "caches"], "");
    assert!(cluster.lock().unwrap().kill("kube-apiserver"));
    within(RETRIES, "a word about the API server that is gone", || manager.log().contains("failed, it starts again"));
    cluster.lock().unwrap().restart("kube-apiserver").unwrap();
    within(RETRIES, "a word about the right that it lacks", || manager.log().contains(" is forbidden"));
    let log = manager.log();
    let is_bad = |line: &&str| line.contains(r#""level":"WARN""#) || line.contains(r#""level":"ERROR""#);
    let lines: Vec<&str> =
        log.lines().filter(is_bad).filter(|line| !line.contains(r#""target":"opctl_runtime::"#)).collect();
    assert_eq!(lines, Vec::<&str>::new());
}
