//! `opctl testenv run`, `up`, `down` and `status` with real programs.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use crate::environments::{assets, eventually, kubectl, left, processes};

/// `opctl testenv …` in a folder without a project, with its files in `cache`.
fn opctl(cache: &Path, arguments: &[&str]) -> Command {
    let mut opctl = Command::new(env!("CARGO_BIN_EXE_opctl"));
    opctl.arg("testenv").args(arguments).current_dir(cache).env("OPCTL_CACHE", cache).stdin(Stdio::null());
    opctl
}

fn said(output: &Output) -> [String; 2] {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8(bytes.clone()).unwrap())
}

/// A run whose command has started and created the file `begun` in the cache.
fn begun(cache: &Path, script: &str) -> Child {
    let script = format!("touch '{}'; {script}", cache.join("begun").display());
    let child = opctl(cache, &["run", "--", "sh", "-c", &script]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    eventually("the command runs", || cache.join("begun").exists());
    fs::remove_file(cache.join("begun")).unwrap();
    child.unwrap()
}

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args(["-s", name, &process.to_string()]).status().unwrap().success());
}

fn nothing_is_left(cache: &Path) {
    eventually("all processes are gone", || processes(&cache.join("testenv")).is_empty());
    eventually("all folders are gone", || left(&cache.join("testenv")).is_empty());
}

#[test]
fn a_command_has_the_api_server_and_its_end_is_the_result() {
    if assets().is_none() {
        return;
    }
    let cache = TempDir::new().unwrap();
    let cache = cache.path();
    let output = opctl(cache, &["run", "--", "sh", "-c", "kubectl get namespaces -o name; exit 7"]).output().unwrap();
    let [out, err] = said(&output);
    assert_eq!(output.status.code(), Some(7), "{err}");
    assert!(out.contains("namespace/default\n"), "{out}{err}");
    assert!(err.starts_with("Kubernetes 1.") && err.lines().count() == 1, "{err}");
    nothing_is_left(cache);

    // The CRDs of the project are installed, or else those in the arguments.
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/memcached");
    let get = ["run", "--", "kubectl", "get", "crds", "-o", "name"];
    let output = opctl(cache, &get).current_dir(example).output().unwrap();
    let [out, err] = said(&output);
    assert_eq!(out, "customresourcedefinition.apiextensions.k8s.io/memcacheds.cache.example.com\n", "{err}");
    assert!(err.contains(", 1 CRD installed, ready in "), "{err}");

    let output = opctl(cache, &["-q", "run", "--", "sh", "-c", "kill -ABRT $$"]).output().unwrap();
    assert_eq!((output.status.code(), said(&output)), (Some(134), [String::new(), String::new()]));
    let output = opctl(cache, &["run", "--", "no-such-program"]).output().unwrap();
    let [_, err] = said(&output);
    assert!(err.contains("error: cannot run `no-such-program`: No such file"), "{err}");
    assert_eq!(output.status.code(), Some(1));
    let output = opctl(cache, &["run", "--crds", "nowhere", "--", "true"]).output().unwrap();
    let [_, err] = said(&output);
    assert!(err.starts_with("error: cannot read `nowhere`: "), "before anything is started: {err}");
    nothing_is_left(cache);
}

#[test]
fn a_signal_ends_the_command_first_and_then_the_servers() {
    if assets().is_none() {
        return;
    }
    let cache = TempDir::new().unwrap();
    for name in ["TERM", "INT"] {
        let run = begun(
            cache.path(),
            "trap 'kubectl get namespace default -o name; exit 3' TERM; while :; do sleep 0.1; done",
        );
        signal(name, run.id());
        let output = run.wait_with_output().unwrap();
        assert_eq!((output.status.code(), said(&output)), (Some(3), ["namespace/default\n".into(), String::new()]));
        nothing_is_left(cache.path());
    }
}

#[test]
fn killed_it_leaves_nothing() {
    if assets().is_none() {
        return;
    }
    let cache = TempDir::new().unwrap();
    let cache = cache.path();
    let mut run = begun(cache, "sleep 30");
    signal("KILL", run.id());
    run.wait().unwrap();
    nothing_is_left(cache);

    // The guard process is killed, too, so the next run cleans up.
    let mut run = begun(cache, "sleep 30");
    let guard =
        Command::new("pgrep").args(["-f", &format!("opctl-testenv-guard {}", cache.display())]).output().unwrap();
    let guard: u32 = String::from_utf8(guard.stdout).unwrap().trim().parse().unwrap();
    signal("KILL", guard);
    signal("KILL", run.id());
    run.wait().unwrap();
    assert!(processes(&cache.join("testenv")).len() >= 2, "the servers go on");
    let output = opctl(cache, &["run", "--", "true"]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output)[1]);
    nothing_is_left(cache);
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    if assets().is_none() {
        return;
    }
    let cache = TempDir::new().unwrap();
    // No file may have a byte. With SIGXFSZ ignored, writing fails like on a full disk.
    let limited = format!("trap '' XFSZ; ulimit -f 0; '{}' testenv run -- true", env!("CARGO_BIN_EXE_opctl"));
    let output = Command::new("sh").args(["-c", &limited]).env("OPCTL_CACHE", cache.path()).output().unwrap();
    let [_, err] = said(&output);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.starts_with("error: cannot write `") && err.contains("File too large"), "{err}");
    nothing_is_left(cache.path());
}

#[test]
fn up_prints_a_kubeconfig_that_works_until_down() {
    if assets().is_none() {
        return;
    }
    let cache = TempDir::new().unwrap();
    let cache = cache.path().canonicalize().unwrap();
    let run = |arguments: &[&str]| {
        let output = opctl(&cache, arguments).output().unwrap();
        let [out, err] = said(&output);
        assert!(output.status.success(), "{arguments:?}: {err}");
        [out, err]
    };
    let [kubeconfig, _] = run(&["up"]);
    let path = cache.join("testenv/default/kubeconfig");
    assert_eq!(kubeconfig, format!("{}\n", path.display()));
    kubectl(&path, &["get", "namespaces"]).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "it has a key");

    let [again, err] =
        run(&["up", "--crds", concat!(env!("CARGO_MANIFEST_DIR"), "/examples/memcached/config/crd/bases")]);
    assert!(again == kubeconfig && err.starts_with("`default` is up already: "), "{err}");
    kubectl(&path, &["get", "memcacheds"]).unwrap();
    run(&["up", "other"]);
    let [status, _] = run(&["status"]);
    let names: Vec<&str> = status.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(names, ["default", "other"], "{status}");
    assert!(status.lines().next().unwrap().ends_with(path.to_str().unwrap()), "{status}");

    let refused = opctl(&cache, &["up", "--nodes", "1"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "it has been started without");
    assert!(opctl(&cache, &["up", "../out"]).output().unwrap().status.code() == Some(1));
    assert_eq!(run(&["down"])[1], "stopped `default`\n");
    let [_, err] = run(&["down"]);
    assert_eq!(err, "note: no test environment `default` is up; there is `other`\n");
    run(&["down", "--all"]);
    assert_eq!(
        run(&["status"]),
        [String::new(), "note: no test environment is up; `opctl testenv up` starts one\n".into()]
    );
    nothing_is_left(&cache);
}
