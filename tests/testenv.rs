//! The library of test environments against real programs: what starts, what stops, and what is left of it.
#![cfg(unix)]

#[path = "common/skipped.rs"]
mod skipped;

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};
use std::{env, fs};

use opctl::testenv::{self, Assets, Environment, Settings, TestenvError};
use serde_json::Value;
use skipped::skipped;
use tempfile::TempDir;

/// What must be there for any of this; said where it is not.
fn assets() -> Option<Assets> {
    let assets = env::var_os("KUBEBUILDER_ASSETS").and_then(Assets::in_folder);
    if assets.is_none() {
        skipped("a test environment", "KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver");
    }
    assets
}

fn kubectl(kubeconfig: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("kubectl").args(arguments).env("KUBECONFIG", kubeconfig).output().unwrap();
    let said = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(said(output.stdout)) } else { Err(said(output.stderr)) }
}

/// Ids of the processes that have this in their command lines.
fn processes(mention: &Path) -> BTreeSet<u32> {
    let output = Command::new("ps").args(["-axwwo", "pid=,args="]).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let ours = lines.lines().filter(|line| line.contains(mention.to_str().unwrap()));
    ours.map(|line| line.split_whitespace().next().unwrap().parse().unwrap()).collect()
}

fn is_free(port: u16) -> bool {
    TcpListener::bind(("127.0.0.1", port)).is_ok()
}

fn port(url: &str) -> u16 {
    url.rsplit_once(':').unwrap().1.parse().unwrap()
}

fn eventually(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "not within a minute: {what}");
        sleep(Duration::from_millis(50));
    }
}

/// Files of the folder of environments, but for its lock.
fn left(root: &Path) -> Vec<String> {
    let names = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "lock").collect()
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
        let crds = testenv::crds(&[path.to_owned()])?;
        environment.install(&crds).map(|()| crds.into_iter().map(|crd| crd.name).collect::<Vec<_>>())
    };
    assert_eq!(install(&folder).unwrap(), ["cats.example.com", "dogs.example.com"]);
    assert_eq!(kubectl(&environment.kubeconfig(), &["get", "cats,dogs", "-o", "name"]).unwrap(), "", "both are served");
    assert_eq!(install(&folder.join("two.yaml")).unwrap().len(), 2, "a second time changes nothing");

    for (name, text, refusal) in [
        (
            "taken.yaml",
            crd("felines", "Cat"),
            "the API server does not take `felines.example.com`: \"CatList\" is already in use",
        ),
        (
            "wrong.yaml",
            crd("birds", "Bird").replace("v1,", "V1,"),
            "the API server does not take `birds.example.com`: ",
        ),
        ("text.yaml", "a: [".to_owned(), "is not YAML"),
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
    environment.start_again("etcd").unwrap();
    environment.start_again("kube-apiserver").unwrap();
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
    assert_eq!(again.to_string(), "`mine` is a test environment already");

    let kept = testenv::kept(root.path()).unwrap();
    let [one] = &kept[..] else { panic!("{} are kept", kept.len()) };
    assert_eq!((one.name.as_str(), &one.url), ("mine", &url));
    kubectl(&one.kubeconfig(), &["get", "--raw", "/readyz"]).unwrap();
    testenv::stop(one).unwrap();
    assert_eq!(processes(root.path()), BTreeSet::new());
    assert!(is_free(port(&url)) && testenv::kept(root.path()).unwrap().is_empty());
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
    assert!(testenv::kept(root.path()).unwrap().is_empty());
    assert_eq!(left(root.path()), [""; 0]);
}

/// 50 with `OPCTL_TESTENV_STARTS=50`.
#[test]
fn many_starts_in_a_row_leak_nothing() {
    let Some(assets) = assets() else { return };
    let starts = env::var("OPCTL_TESTENV_STARTS").map_or(5, |number| number.parse().unwrap());
    let root = TempDir::new().unwrap();
    let open = || fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    // Other tests of this process open some, too.
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

/// Programs, of which some are scripts and the others the real ones.
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
fn a_program_that_does_not_run_is_told_with_its_last_words() {
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
        "`kube-apiserver` ended by itself (exit status: 1); its last words:\n  Error: unknown flag: --service-account-issuer"
    );
    let error = fails(&[("etcd", "\x7fELF of another machine")], 0);
    assert!(error.to_string().starts_with("cannot start `") && error.to_string().contains("etcd"), "{error}");
    assert!(error.help().unwrap().contains("opctl testenv setup"));
    let error = fails(&[], 1);
    assert!(error.to_string().starts_with("no `kube-scheduler` in `"), "{error}");

    // Every time.
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
    assert!(error.to_string().starts_with(&format!("cannot make `{}`: ", file.display())), "{error}");
}

/// `opctl testenv …` in a folder without a project, with all that it keeps in the given one.
fn opctl(cache: &Path, arguments: &[&str]) -> Command {
    let mut opctl = Command::new(env!("CARGO_BIN_EXE_opctl"));
    opctl.arg("testenv").args(arguments).current_dir(cache).env("OPCTL_CACHE", cache).stdin(Stdio::null());
    opctl
}

fn said(output: &Output) -> [String; 2] {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8(bytes.clone()).unwrap())
}

/// A run whose command has begun: it has made the file `begun` in the cache.
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

    // The project's CRDs are there; so is what is named instead of them.
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

    // And with it what would have cleaned up: the next one does.
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
    // No file may have a byte, and whoever tries is told so as of a full disk, not killed.
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
