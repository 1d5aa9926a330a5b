//! Shared functions of tests: the folder where operators are compiled, and running commands.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The target folder of all operators in tests, so that kube is compiled once.
pub fn operators_target() -> PathBuf {
    match std::env::var_os("OPCTL_OPERATORS_TARGET") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("target/operators"),
    }
}

/// `cargo` in the folder of an operator.
pub fn cargo(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = for_operators(Command::new(env!("CARGO")));
    command.current_dir(folder).args(arguments);
    command
}

/// Configures a command that runs cargo: it compiles into the shared folder, without debug info and incremental data,
/// and without colors and settings of the outer run.
pub fn for_operators(mut command: Command) -> Command {
    command.env("CARGO_TARGET_DIR", operators_target()).env("CARGO_PROFILE_DEV_DEBUG", "0");
    command.env("CARGO_INCREMENTAL", "0").env_remove("RUSTFLAGS").env("CARGO_TERM_COLOR", "never");
    // Variables of the tested crate: build scripts that depend on them, such as ring's, would run again after each
    // manual run.
    let of_this_crate = |name: &String| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for name in std::env::vars().map(|(name, _)| name).filter(of_this_crate) {
        command.env_remove(name);
    }
    command
}

/// Runs a command and returns stdout. Panics if it fails.
pub fn output(mut command: Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{}\n{error}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).expect("UTF-8")
}
