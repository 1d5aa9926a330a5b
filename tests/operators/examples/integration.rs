//! `make test-integration` on a machine with only etcd and kube-apiserver, so no controllers of Kubernetes run.

use std::env;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::example::Example;
use crate::ansible::has_ansible;
use crate::common;
use crate::control_plane::skipped;
use crate::helm::has_helm;
use crate::workdir;

#[test]
fn every_example_passes_its_integration_test() {
    let Some(assets) = env::var_os("KUBEBUILDER_ASSETS") else {
        return skipped("integration tests of the examples", "KUBEBUILDER_ASSETS is not set");
    };
    let [programs, cache] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for name in ["etcd", "kube-apiserver"] {
        symlink(Path::new(&assets).join(name), programs.path().join(name)).unwrap();
    }
    let _cargo = workdir::lock_cargo();
    let of_charts: &[_] = if has_helm("integration tests of charts") { &["nginx", "wiki"] } else { &[] };
    let of_ansible: &[_] =
        if has_ansible("integration tests of Ansible operators") { &["memcached-ansible"] } else { &[] };
    let others = ["application", "hpa", "label-operator", "memcached", "mysrv"];
    for folder in others.iter().chain(of_charts).chain(of_ansible) {
        let mut make = common::for_operators(Command::new("make"));
        make.current_dir(Example { folder, name: "" }.path()).args(["test-integration"]);
        make.env("OPCTL", env!("CARGO_BIN_EXE_opctl")).env("OPCTL_CACHE", cache.path());
        // Ansible of PATH.
        make.env("KUBEBUILDER_ASSETS", programs.path()).env_remove("KUBECONFIG").arg("ANSIBLE=");
        let said = common::output(make);
        assert!(said.contains("\ntest samples_become_ready ... ok\n"), "{folder}: {said}");
    }
}
