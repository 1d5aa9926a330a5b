//! A worked example: its folder, its Makefile targets, its compiled manager, and its identity in a cluster.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

use crate::common;
use crate::control_plane::ControlPlane;
use crate::manager::Manager;
use crate::workdir;

/// A folder below `examples`.
#[derive(Clone, Copy)]
pub struct Example {
    pub folder: &'static str,
    /// The prefix of its Kubernetes objects.
    pub name: &'static str,
}

impl Example {
    pub fn path(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(self.folder)
    }

    /// Runs targets of its Makefile.
    pub fn make(self, cluster: &ControlPlane, arguments: &[&str]) {
        let path = format!("{}:{}", env::var("KUBEBUILDER_ASSETS").unwrap(), env::var("PATH").unwrap());
        let mut make = Command::new("make");
        make.current_dir(self.path()).args(arguments).env("PATH", path).env("KUBECONFIG", &cluster.kubeconfig);
        make.env("OPCTL", env!("CARGO_BIN_EXE_opctl"));
        common::output(make);
    }

    /// Applies its CRDs, roles and Deployment. The Pod is admitted as "restricted", but no container runs: the manager
    /// is a local process.
    pub fn deploy(self, cluster: &ControlPlane) {
        // Without its own kind, there is nothing to install.
        if self.path().join("config/crd/bases").exists() {
            self.make(cluster, &["install"]);
        }
        self.make(cluster, &["deploy", "IMG=example:test"]);
        let deployment = format!("deployment/{}-controller-manager", self.name);
        let wait = ["wait", "-n", &self.namespace(), "--for=condition=Available", "--timeout=60s", &deployment];
        cluster.kubectl(&wait, "");
    }

    /// Applies everything like `make deploy`. Without nodes, nothing is rolled out.
    pub fn apply(self, cluster: &ControlPlane) {
        let mut opctl = Command::new(env!("CARGO_BIN_EXE_opctl"));
        opctl.current_dir(self.path()).args(["deploy", "--no-wait", "--image", "example:test", "--kubectl"]);
        opctl.arg(&cluster.kubectl).env("KUBECONFIG", &cluster.kubeconfig);
        common::output(opctl);
    }

    /// Runs the manager with the permissions of its service account, and waits until it is ready.
    pub fn run(self, cluster: &ControlPlane, arguments: &[&str]) -> Manager {
        let account = service_account(cluster, &self.namespace(), &format!("{}-controller-manager", self.name));
        let mut manager = Manager::start(&self.manager(), &account, "manager", arguments);
        manager.becomes_ready();
        manager
    }

    /// The namespace that `make deploy` uses.
    pub fn namespace(self) -> String {
        format!("{}-system", self.name)
    }

    /// The binary, compiled once for all tests. It is copied, since all examples are compiled to the same path.
    pub fn manager(self) -> PathBuf {
        static COMPILED: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
        let _cargo = workdir::lock_cargo();
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        let copy = || {
            common::output(common::cargo(&self.path(), &["build", "--locked", "--bin", "manager"]));
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-manager", self.folder));
            fs::copy(common::operators_target().join("debug/manager"), &path).unwrap();
            path
        };
        compiled.entry(self.folder).or_insert_with(copy).clone()
    }
}

/// A kubeconfig with the token of a service account.
pub fn service_account(cluster: &ControlPlane, namespace: &str, name: &str) -> PathBuf {
    let token = cluster.kubectl(&["create", "token", name, "-n", namespace], "");
    kubeconfig(cluster, name, token.trim())
}

/// A kubeconfig with only a token as credentials.
fn kubeconfig(cluster: &ControlPlane, name: &str, token: &str) -> PathBuf {
    let path = cluster.folder.join(format!("{name}.kubeconfig"));
    fs::copy(&cluster.kubeconfig, &path).unwrap();
    let config = |arguments: &[&str]| {
        cluster.kubectl(&[&["config", "--kubeconfig", path.to_str().unwrap()], arguments].concat(), "");
    };
    config(&["delete-user", "admin"]);
    config(&["set-credentials", "operator", "--token", token]);
    config(&["set-context", "--current", "--user", "operator"]);
    path
}
