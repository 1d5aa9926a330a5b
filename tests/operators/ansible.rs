//! Requirements of Ansible operators.

use std::process::Command;

use crate::control_plane::skipped;

/// `true` if ansible-runner and the collection kubernetes.core are installed; otherwise reports that `tested` is
/// skipped.
pub fn has_ansible(tested: &str) -> bool {
    let doc = Command::new("ansible-doc").args(["--list", "kubernetes.core"]).output();
    let has = Command::new("ansible-runner").arg("--version").output().is_ok_and(|output| output.status.success())
        && doc.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("kubernetes.core.k8s "));
    if !has {
        skipped(tested, "there is no ansible-runner with kubernetes.core on the PATH");
    }
    has
}
