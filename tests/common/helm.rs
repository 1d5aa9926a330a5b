//! The `helm` program of this machine.

use std::process::Command;

use crate::skipped::skipped;

/// Returns true if PATH has a helm 4; otherwise reports that something is not tested.
pub fn has_helm(tested: &str) -> bool {
    let version = Command::new("helm").args(["version", "--template", "{{.Version}}"]).output();
    let has = version.is_ok_and(|output| output.stdout.starts_with(b"v4"));
    if !has {
        skipped(tested, "there is no helm 4 on the PATH");
    }
    has
}
