//! An operator that opctl did not scaffold (`tests/adopted`), after `opctl adopt`: it runs with only the permissions of
//! its generated role, and a scaffolded controller and webhook compile in it.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::control_plane::{ControlPlane, skipped};
use crate::examples::eventually;
use crate::sandbox::{Sandbox, shell};
use crate::workdir::{self, sync};
use crate::{common, tree};

#[test]
fn an_adopted_operator_runs_with_its_generated_role() {
    let sandbox = Sandbox::new();
    sync(&sandbox.folder, &tree::tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/adopted")));
    let lock = workdir::cargo_lock("shelf-operator", false);
    fs::write(sandbox.folder.join("Cargo.lock"), lock).unwrap();
    shell(&sandbox, "opctl adopt && opctl manifests --check && opctl check --deny-warnings");
    // With this, its dependencies are those of the golden projects, which are already compiled.
    shell(&sandbox, "opctl init --runtime vendored");
    shell(&sandbox, "opctl create api --group library.example.com --version v1 --kind Shelf --controller-name audit");
    shell(&sandbox, "opctl create webhook --group library --version v1 --kind Shelf --validation");
    shell(&sandbox, "opctl manifests --check && opctl check --deny-warnings && opctl update --check");

    let folder = common::operators_target().join("adopted");
    sync(&folder, &tree::tree(&sandbox.folder));
    let _cargo = workdir::lock_cargo();
    common::output(common::cargo(&folder, &["update", "--workspace", "--offline", "--quiet"]));
    common::output(common::cargo(&folder, &["build", "--quiet"]));
    let program = common::operators_target().join("debug/shelf-operator");
    let Some(cluster) = ControlPlane::start("adopted", 0) else {
        return skipped("an adopted operator", "KUBEBUILDER_ASSETS is not set");
    };
    cluster.kubectl(&["apply", "--server-side", "-k", folder.join("config/default").to_str().unwrap()], "");
    let mut config: Value = opctl_model::yaml::read(&fs::read_to_string(&cluster.kubeconfig).unwrap()).unwrap();
    config["users"][0]["user"]["as"] =
        "system:serviceaccount:shelf-operator-system:shelf-operator-controller-manager".into();
    let kubeconfig = cluster.folder.join("service-account");
    fs::write(&kubeconfig, config.to_string()).unwrap();
    let _operator = Operator::start(&program, &kubeconfig);

    let shelf = "apiVersion: library.example.com/v1\nkind: Shelf\nmetadata:\n  name: one\n  namespace: default\nspec:\n  books: 3\n";
    // The scaffolded webhook has no server here, since the adopted binary does not start it.
    cluster.kubectl(&["delete", "validatingwebhookconfigurations", "--all"], "");
    cluster.kubectl(&["apply", "-f", "-"], shelf);
    let get = |what: &str, path: &str| cluster.run(&["get", what, "one", "-o", path], "").stdout;
    eventually("the ConfigMap is applied", || get("configmap", "jsonpath={.data.books}") == b"3");
    eventually("the status is set", || get("shelf", "jsonpath={.status.free}") == b"97");
}

/// An operator process, killed when dropped.
struct Operator(Child);

impl Operator {
    fn start(program: &Path, kubeconfig: &Path) -> Self {
        let mut command = Command::new(program);
        command.env("KUBECONFIG", kubeconfig).stdin(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}
