//! Prometheus and promtool: from PATH, or from the folder that `.ci/run` installs them to.

use std::path::{Path, PathBuf};

use crate::skipped::skipped;

/// The path of the program; `None`, which is reported, if it is missing.
pub fn program(name: &str, tested: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools");
    let found = std::env::split_paths(&path).chain([own]).map(|folder| folder.join(name)).find(|path| path.is_file());
    if found.is_none() {
        skipped(tested, &format!("no `{name}` (Debian's package `prometheus`)"));
    }
    found
}
