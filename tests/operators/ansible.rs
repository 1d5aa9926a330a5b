//! What operators for Ansible need besides opctl.

use std::process::Command;

use crate::control_plane::skipped;

/// Whether there is an ansible-runner with the collection kubernetes.core; says that something is not tested if not.
pub fn has_ansible(tested: &str) -> bool {
    let doc = Command::new("ansible-doc").args(["--list", "kubernetes.core"]).output();
    let has = Command::new("ansible-runner").arg("--version").output().is_ok_and(|output| output.status.success())
        && doc.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("kubernetes.core.k8s "));
    if !has {
        skipped(tested, "there is no ansible-runner with kubernetes.core on the PATH");
    }
    has
}
