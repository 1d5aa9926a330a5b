//! The examples of this crate: folders, compiled programs and service accounts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs};

use serde_json::Value;

use crate::control_plane::ControlPlane;
use crate::manager::Manager;

/// A folder or file below `examples`, and the name of its operator.
#[derive(Clone, Copy)]
pub struct Example(pub &'static str);

/// An operator whose leader writes all the time, and whose only thread can be blocked.
pub const BEATS: Example = Example("beats");
/// An operator with webhooks.
pub const BACKUPS: Example = Example("backups");
/// An operator with Helm releases and the permissions in its `rbac.yaml`.
pub const CHARTS: Example = Example("charts");
/// An operator with a controller and only the permissions in its `rbac.yaml`.
pub const CACHES: Example = Example("caches");
/// An operator with Ansible roles and playbooks and the permissions in its `rbac.yaml`.
pub const PLAYBOOKS: Example = Example("playbooks");

/// An operator whose replicas share its objects.
pub const SHARES: Example = Example("shares");

impl Example {
    pub fn folder(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(self.0)
    }

    pub fn program(self) -> &'static Path {
        static PROGRAMS: LazyLock<BTreeMap<String, PathBuf>> = LazyLock::new(compile);
        &PROGRAMS[self.0]
    }

    /// Applies its CRDs, as `opctl install` does, and waits until they are served.
    pub fn install(self, cluster: &ControlPlane) {
        let crds = output(Command::new(self.program()).arg("crds"));
        let apply = ["apply", "--server-side", "--force-conflicts", "--field-manager=opctl", "-o", "name", "-f", "-"];
        for crd in cluster.kubectl(&apply, &crds).lines() {
            cluster.kubectl(&["wait", "--for=condition=Established", "--timeout=60s", crd], "");
        }
    }

    /// Applies its `rbac.yaml`.
    pub fn grant(self, cluster: &ControlPlane) {
        let path = self.folder().join("rbac.yaml");
        cluster.kubectl(&["apply", "--server-side", "-f", path.to_str().unwrap()], "");
    }

    /// The namespace in its `rbac.yaml`.
    pub fn namespace(self) -> String {
        format!("{}-system", self.0)
    }

    /// A kubeconfig with the token of its service account, and no other credentials.
    pub fn service_account(self, cluster: &ControlPlane) -> PathBuf {
        let token = cluster.kubectl(&["create", "token", self.0, "-n", &self.namespace()], "");
        let path = cluster.folder.join(format!("{}.kubeconfig", self.0));
        fs::copy(&cluster.kubeconfig, &path).unwrap();
        let config = |arguments: &[&str]| {
            cluster.kubectl(&[&["config", "--kubeconfig", path.to_str().unwrap()], arguments].concat(), "");
        };
        config(&["delete-user", "admin"]);
        config(&["set-credentials", "operator", "--token", token.trim()]);
        config(&["set-context", "--current", "--user", "operator"]);
        path
    }

    /// Starts it with the permissions of its service account, and waits until it is ready.
    pub fn run(self, cluster: &ControlPlane, arguments: &[&str]) -> Manager {
        let mut manager = Manager::start(self.program(), &self.service_account(cluster), "manager", arguments);
        manager.becomes_ready();
        manager
    }
}

/// The programs by name. `cargo test` has compiled them with the tests, so this is a no-op; `cargo test --test`
/// compiles only that test.
fn compile() -> BTreeMap<String, PathBuf> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    // Building all packages gives dependencies the same features.
    cargo.args(["build", "--locked", "--workspace", "--message-format=json-render-diagnostics"]);
    for example in [BACKUPS, BEATS, CACHES, CHARTS, PLAYBOOKS, SHARES] {
        cargo.args(["--example", example.0]);
    }
    // Variables of the tested crate. Build scripts that depend on them, such as that of ring, would rerun after each
    // manual run.
    let of_this_crate = |name: &String| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for name in env::vars().map(|(name, _)| name).filter(of_this_crate) {
        cargo.env_remove(name);
    }
    let messages = output(&mut cargo);
    let messages = messages.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let program = |message: Value| {
        let (name, path) = (message["target"]["name"].as_str()?, message["executable"].as_str()?);
        Some((name.to_owned(), path.into()))
    };
    messages.filter_map(program).collect()
}

/// Runs a command that must succeed, and returns its standard output.
pub fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{}\n{error}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).expect("UTF-8")
}
