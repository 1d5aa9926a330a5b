//! Finds cargo's home folder, which contains downloaded sources. The variable CARGO_HOME overrides the default.

use std::path::PathBuf;

/// `CARGO_HOME`, or `.cargo` in the user's home.
pub fn cargo_home() -> Option<PathBuf> {
    let variable = std::env::var_os("CARGO_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    variable.or_else(|| Some(std::env::home_dir()?.join(".cargo")))
}
