//! The `helm` program of this machine.

use std::process::Command;

use crate::skipped::skipped;

/// `true` if PATH has helm 4; otherwise reports that `tested` is skipped.
pub fn has_helm(tested: &str) -> bool {
    let version = Command::new("helm").args(["version", "--template", "{{.Version}}"]).output();
    let has = version.is_ok_and(|output| output.stdout.starts_with(b"v4"));
    if !has {
        skipped(tested, "there is no helm 4 on the PATH");
    }
    has
}
