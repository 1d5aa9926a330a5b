//! Test environments with real programs: starting, stopping and cleaning up.
#![cfg(unix)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../../tests/common/skipped.rs"]
mod skipped;

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::scope;
use std::time::Instant;
use std::{env, fs};

use common::{assets, eventually, kubectl, left, processes};
use opctl_testenv::{Assets, Crd, Environment, Kept, Settings, TestenvError};
use serde_json::Value;
use tempfile::TempDir;

fn is_free(port: u16) -> bool {
    TcpListener::bind(("127.0.0.1", port)).is_ok()
}

fn port(url: &str) -> u16 {
    url.rsplit_once(':').unwrap().1.parse().unwrap()
}

#[test]
fn with_nodes_it_is_a_whole_cluster_and_its_end_leaves_nothing() {
    let Some(assets) = assets() else { return };
    let root = TempDir::new().unwrap();
    let mut settings = Settings::new(assets, root.path(), "whole");
    settings.nodes = Some(2);
    let environment = Environment::start(settings).unwrap();
    let kubeconfig = environment.kubeconfig();
    let run =
        |arguments: &[&str]| kubectl(&kubeconfig, arguments).unwrap_or_else(|said| panic!("{arguments:?}: {said}"));

    assert_eq!(run(&["version"]).lines().last().unwrap(), format!("Server Version: v{}", environment.version));
    let labels = "kubernetes.io/os=linux,kubernetes.io/arch=amd64,kubernetes.io/hostname=fake-1";
    assert_eq!(run(&["get", "nodes", "-l", labels, "-o", "name"]).trim(), "node/fake-1", "labels of a kubelet");
    run(&["create", "deployment", "web", "--image=none", "--replicas=2"]);
    run(&["rollout", "status", "deployment/web", "--timeout=60s"]);
    run(&["delete", "deployment", "web", "--cascade=foreground"]);
    assert_eq!(run(&["get", "pods", "-o", "name"]), "", "owner references are followed");
    let may = kubectl(&kubeconfig, &["auth", "can-i", "get", "pods", "--as", "system:serviceaccount:default:nobody"]);
    assert!(may.is_err(), "roles decide: {may:?}");

    let folder = environment.folder().to_owned();
    let url = environment.url.clone();
    assert!(processes(&folder).len() >= 5);
    drop(environment);
    assert_eq!(processes(root.path()), BTreeSet::new());
    assert!(is_free(port(&url)));
    assert_eq!(left(root.path()), [""; 0]);
}

#[test]
fn crds_are_served_or_refused_with_their_file() {
    let Some(assets) = assets() else { return };
    let root = TempDir::new().unwrap();
    let environment = Environment::start(Settings::new(assets, root.path(), "crds")).unwrap();
    let crd = |plural: &str, kind: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: {plural}.example.com\n\
             spec:\n  group: example.com\n  scope: Namespaced\n  names: {{ kind: {kind}, plural: {plural} }}\n  versions:\n  \
             - {{ name: v1, served: true, storage: true, schema: {{ openAPIV3Schema: {{ type: object }} }} }}\n"
        )
    };
    let folder = root.path().join("lock").with_file_name("files");
    fs::create_dir(&folder).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("kustomization.yaml", "resources: [two.yaml]\n");
    write("two.yaml", &format!("{}---\n{}", crd("cats", "Cat"), crd("dogs", "Dog")));
    let install = |path: &Path| {
        let crds = Crd::load(&[path.to_owned()])?;
        environment.install(&crds).map(|()| crds.into_iter().map(|crd| crd.name().to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(install(&folder).unwrap(), ["cats.example.com", "dogs.example.com"]);
    assert_eq!(kubectl(&environment.kubeconfig(), &["get", "cats,dogs", "-o", "name"]).unwrap(), "", "both are served");
    assert_eq!(install(&folder.join("two.yaml")).unwrap().len(), 2, "a second time changes nothing");

    for (name, text, refusal) in [
        (
            "taken.yaml",
            crd("felines", "Cat"),
            "the API server rejects `felines.example.com`: \"CatList\" is already in use",
        ),
        ("wrong.yaml", crd("birds", "Bird").replace("v1,", "V1,"), "the API server rejects `birds.example.com`: "),
        ("text.yaml", "a: [".to_owned(), "is not valid YAML"),
        ("none.yaml", "kind: Namespace".to_owned(), "no CustomResourceDefinition in "),
    ] {
        write(name, &text);
        let said = install(&folder.join(name)).unwrap_err().to_string();
        assert!(said.contains(refusal) && said.contains(name), "{said}");
    }
    let said = install(&folder.join("absent")).unwrap_err().to_string();
    assert!(said.starts_with("cannot read `") && said.contains("absent"), "{said}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_killed_program_has_its_data_when_it_is_started_again() {
    let Some(assets) = assets() else { return };
    let root = TempDir::new().unwrap();
    let mut environment = Environment::start(Settings::new(assets, root.path(), "crash")).unwrap();
    let kubeconfig = environment.kubeconfig();
    kubectl(&kubeconfig, &["create", "namespace", "here"]).unwrap();
    assert!(environment.kill("etcd") && environment.kill("kube-apiserver") && !environment.kill("kube-proxy"));
    assert!(kubectl(&kubeconfig, &["get", "namespaces"]).is_err());
    environment.restart("etcd").unwrap();
    environment.restart("kube-apiserver").unwrap();
    eventually("it is there again", || kubectl(&kubeconfig, &["get", "namespace", "here"]).is_ok());
}

#[test]
fn one_that_is_kept_goes_on_until_it_is_stopped() {
    let Some(assets) = assets() else { return };
    let root = TempDir::new().unwrap();
    let settings = Settings::new(assets, root.path(), "mine");
    let environment = Environment::start(settings.clone()).unwrap();
    let url = environment.url.clone();
    environment.keep().unwrap();
    let again = Environment::start(settings).err().unwrap();
    assert_eq!(again.to_string(), "test environment `mine` already exists");

    let kept = Kept::list(root.path()).unwrap();
    let [one] = &kept[..] else { panic!("{} are kept", kept.len()) };
    assert_eq!((one.name.as_str(), &one.url), ("mine", &url));
    kubectl(&one.kubeconfig(), &["get", "--raw", "/readyz"]).unwrap();
    one.stop().unwrap();
    assert_eq!(processes(root.path()), BTreeSet::new());
    assert!(is_free(port(&url)) && Kept::list(root.path()).unwrap().is_empty());
    assert_eq!(left(root.path()), [""; 0]);
}

#[test]
fn what_was_kept_before_the_machine_restarted_is_cleaned_up() {
    let Some(assets) = assets() else { return };
    let root = TempDir::new().unwrap();
    Environment::start(Settings::new(assets, root.path(), "old")).unwrap().keep().unwrap();
    for pid in processes(root.path()) {
        assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
    }
    eventually("all are dead", || processes(root.path()).is_empty());
    assert!(Kept::list(root.path()).unwrap().is_empty());
    assert_eq!(left(root.path()), [""; 0]);
}

/// Starts 5 environments by default. Set `OPCTL_TESTENV_STARTS` for more.
#[test]
fn many_starts_in_a_row_leak_nothing() {
    let Some(assets) = assets() else { return };
    let starts = env::var("OPCTL_TESTENV_STARTS").map_or(5, |number| number.parse().unwrap());
    let root = TempDir::new().unwrap();
    let open = || fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    // Other tests in this process open some, too.
    let mut fewest = usize::MAX;
    for number in 0..starts {
        let start = Instant::now();
        let environment = Environment::start(Settings::new(assets.clone(), root.path(), number.to_string())).unwrap();
        println!("ready after {:.2} s", start.elapsed().as_secs_f64());
        let port = port(&environment.url);
        drop(environment);
        assert!(is_free(port));
        assert_eq!(processes(root.path()), BTreeSet::new());
        assert_eq!(left(root.path()), [""; 0]);
        fewest = fewest.min(open());
    }
    assert!(fewest < 100, "{fewest} files are open");
}

#[test]
fn four_at_once_know_nothing_of_each_other() {
    let Some(assets) = assets() else { return };
    let root = TempDir::new().unwrap();
    scope(|scope| {
        let start = |name: &'static str| {
            let settings = Settings::new(assets.clone(), root.path(), name);
            scope.spawn(move || {
                let environment = Environment::start(settings).unwrap();
                kubectl(&environment.kubeconfig(), &["create", "namespace", name]).unwrap();
                environment
            })
        };
        let all = ["a", "b", "c", "d"].map(start).map(|thread| thread.join().unwrap());
        for environment in &all {
            let said = kubectl(&environment.kubeconfig(), &["get", "namespaces", "-o", "json"]).unwrap();
            let said: Value = serde_json::from_str(&said).unwrap();
            let names = said["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap());
            let own: Vec<&str> = names.filter(|name| name.len() == 1).collect();
            assert_eq!(own, [environment.folder().file_name().unwrap().to_str().unwrap()]);
        }
    });
    assert_eq!(left(root.path()), [""; 0]);
}

/// Creates a folder of programs, some of which are scripts and the others the real ones.
fn with_scripts(assets: &Assets, scripts: &[(&str, &str)]) -> (TempDir, Assets) {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    for (name, script) in scripts {
        fs::write(path(name), script).unwrap();
        fs::set_permissions(path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for name in ["etcd", "kube-apiserver"].iter().filter(|name| !path(name).exists()) {
        symlink(assets.program(name).unwrap(), path(name)).unwrap();
    }
    let assets = Assets::in_folder(folder.path()).unwrap();
    (folder, assets)
}

#[test]
fn a_program_that_does_not_run_is_reported_with_the_end_of_its_log() {
    let Some(assets) = assets() else { return };
    let root = TempDir::new().unwrap();
    let fails = |scripts: &[(&str, &str)], nodes: u16| -> TestenvError {
        let (_folder, assets) = with_scripts(&assets, scripts);
        let mut settings = Settings::new(assets, root.path(), "broken");
        settings.nodes = Some(nodes);
        let error = Environment::start(settings).err().expect("it cannot start");
        assert_eq!(processes(root.path()), BTreeSet::new());
        assert_eq!(left(root.path()), [""; 0]);
        error
    };
    let old = "#!/bin/sh\necho 'Error: unknown flag: --service-account-issuer' >&2\nexit 1\n";
    let error = fails(&[("kube-apiserver", old)], 0);
    assert_eq!(
        error.to_string(),
        "`kube-apiserver` exited (exit status: 1); the end of its log:\n  Error: unknown flag: --service-account-issuer"
    );
    let error = fails(&[("etcd", "\x7fELF of another machine")], 0);
    assert!(error.to_string().starts_with("cannot start `") && error.to_string().contains("etcd"), "{error}");
    assert!(error.help().unwrap().contains("opctl testenv setup"));
    let error = fails(&[], 1);
    assert!(error.to_string().starts_with("fake nodes require `kube-scheduler`, which is not in `"), "{error}");

    // Every attempt fails.
    let taken = "#!/bin/sh\necho 'listen tcp 127.0.0.1:1: bind: address already in use' >&2\nexit 1\n";
    let error = fails(&[("etcd", taken)], 0);
    assert!(error.to_string().contains("address already in use"), "{error}");
}

#[test]
fn a_port_that_somebody_takes_meanwhile_is_no_failure() {
    let Some(assets) = assets() else { return };
    let root = TempDir::new().unwrap();
    let etcd = assets.program("etcd").unwrap();
    let script = format!(
        "#!/bin/sh\nif [ -e '{mark}' ]; then exec '{etcd}' \"$@\"; fi\ntouch '{mark}'\n\
         echo 'listen tcp 127.0.0.1:1: bind: address already in use' >&2\nexit 1\n",
        mark = root.path().join("lock").with_extension("mark").display(),
        etcd = etcd.display(),
    );
    let (_folder, assets) = with_scripts(&assets, &[("etcd", &script)]);
    drop(Environment::start(Settings::new(assets, root.path(), "again")).unwrap());
    assert_eq!(left(root.path()), ["lock.mark"]);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let Some(assets) = assets() else { return };
    let root = TempDir::new().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Environment::start(Settings::new(assets, &file, "x")).err().unwrap();
    assert!(error.to_string().starts_with(&format!("cannot create `{}`: ", file.display())), "{error}");
}
