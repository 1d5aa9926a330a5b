//! The worked example against a real API server, as its users run it: installed by its Makefile, built by cargo, and with
//! the token of its own service account, so with the rights of its generated ClusterRole and no others.
//!
//! It compiles an operator, so it runs only when asked for: `cargo test --test memcached`.

mod common;
#[path = "common/control_plane.rs"]
mod control_plane;
#[path = "common/mutants.rs"]
mod mutants;

use std::env;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use control_plane::ControlPlane;
use mutants::example;
use opctl::diagnostic::Span;
use opctl::emit::{self, Options};
use opctl::grants::Home;
use opctl::model::Operator;
use serde_json::Value;

#[test]
fn keeps_the_cluster_as_the_object_says_with_the_rights_of_its_role() {
    let Some(cluster) = ControlPlane::start("memcached", 2) else { return };
    make(&cluster, &["install"]);
    make(&cluster, &["deploy", "IMG=memcached-operator:test"]);
    // Its own Pod stands there too, admitted as "restricted", but no container runs here: the manager is this process.
    let deployment = "deployment/memcached-operator-controller-manager";
    cluster.kubectl(&["wait", "-n", SYSTEM, "--for=condition=Available", "--timeout=60s", deployment], "");
    let kubeconfig = service_account(&cluster, SYSTEM, "memcached-operator-controller-manager");
    assert!(!can_i(&cluster, &kubeconfig, &["delete", "deployments"]), "the manager has more rights than its role");
    let mut manager = Manager::start(&cluster, &kubeconfig, "manager");
    eventually("ready", || manager.get("/readyz") == "ok");

    cluster.kubectl(&["create", "namespace", "zoo"], "");
    cluster.kubectl(&["label", "namespace", "zoo", "pod-security.kubernetes.io/enforce=restricted"], "");
    cluster.kubectl(&["apply", "-n", "zoo", "-k", example().join("config/samples").to_str().unwrap()], "");
    let zoo = Zoo(&cluster);
    zoo.await_settled(3);

    zoo.run(&["patch", "memcached", SAMPLE, "--type=merge", "--patch", r#"{"spec":{"size":4}}"#]);
    zoo.await_settled(4);

    zoo.run(&["scale", "deployment", SAMPLE, "--replicas=1"]);
    zoo.await_settled(4);
    zoo.run(&["label", "deployment", SAMPLE, "app.kubernetes.io/managed-by=someone", "--overwrite"]);
    zoo.await_settled(4);
    zoo.run(&["delete", "deployment", SAMPLE]);
    zoo.await_settled(4);
    let [pod, ..] = &zoo.pods()[..] else { panic!("there are Pods") };
    zoo.run(&["delete", "pod", pod]);
    zoo.await_settled(4);
    assert!(!zoo.pods().contains(pod), "the status follows the Pods");

    let metrics = manager.get("/metrics");
    assert!(metrics.contains(r#"controller_reconciles_total{controller="memcacheds.cache.example.com"}"#), "{metrics}");
    assert!(!metrics.contains("controller_reconcile_failures_total{"), "{metrics}");
    let log = manager.log();
    assert!(!log.contains("watch failed"), "{log}");

    // What is not its own it leaves alone, and says so.
    zoo.run(&["create", "deployment", "taken", "--image=memcached", "--replicas=0"]);
    let before = zoo.get(&["deployment", "taken"])["metadata"].clone();
    zoo.apply("taken", 1);
    eventually("a word about the other Deployment", || zoo.ready("taken")["reason"] == "RequestFailed");
    let message = zoo.ready("taken")["message"].to_string();
    assert!(message.contains("field is immutable") && !message.contains("Status {"), "{message}");
    assert_eq!(zoo.get(&["deployment", "taken"])["metadata"], before);
    assert!(manager.get("/metrics").contains(r#"error="RequestFailed"}"#));
    for (name, size) in [("huge", 6), (&*"long".repeat(16), 1)] {
        let refused = cluster.run(&["apply", "-n", "zoo", "-f", "-"], &object(name, size));
        assert!(!refused.status.success(), "the API server takes {name} with {size} servers");
    }

    zoo.run(&["delete", "memcached", SAMPLE]);
    eventually("an end of what belongs to it", || zoo.find("deployment").is_empty() && zoo.pods().is_empty());

    manager.terminate();
    let status = manager.exit();
    assert_eq!(status.code(), Some(0), "{}", manager.log());
}

#[test]
fn does_not_start_without_the_crd_or_the_rights_and_says_so() {
    let Some(cluster) = ControlPlane::start("memcached-start", 0) else { return };
    cluster.kubectl(&["create", "serviceaccount", "nobody"], "");
    let (admin, nobody) = (PathBuf::from(&cluster.kubeconfig), service_account(&cluster, "default", "nobody"));
    let refuses = |kubeconfig: &Path, name: &str, reason: &str| {
        let mut manager = Manager::start(&cluster, kubeconfig, name);
        assert_eq!(manager.exit().code(), Some(1));
        let log = manager.log();
        assert!(log.contains(reason), "{log}");
    };

    refuses(
        &admin,
        "no-crd",
        "does not know `cache.example.com/v1alpha1 Memcached`: install the CRDs (`make install`)",
    );
    make(&cluster, &["install"]);
    let forbidden = |resource: &str| format!("missing rights: {resource} is forbidden");
    refuses(&nobody, "no-rights", &forbidden("memcacheds.cache.example.com"));
    // Each right that is missing is named, not only the first.
    let role = "--resource=memcacheds.cache.example.com";
    cluster.kubectl(&["create", "clusterrole", "some", "--verb=list,watch", role], "");
    cluster.kubectl(
        &["create", "clusterrolebinding", "some", "--clusterrole=some", "--serviceaccount=default:nobody"],
        "",
    );
    refuses(&nobody, "some-rights", &forbidden("deployments.apps"));
}

/// `opctl check` is right: an operator that lacks a permission which it calls missing does not run, or does not reconcile.
#[test]
fn fails_without_each_permission_that_check_calls_missing() {
    let Some(cluster) = ControlPlane::start("memcached-rights", 0) else { return };
    make(&cluster, &["install"]);
    let whole = Trial { name: "whole".into(), lacks: String::new(), operator: mutants::read(None) };
    let mutants = mutants::mutants().into_iter().map(|mutant| {
        let around = |place: &Span| place.range.clone();
        let home = Home::default();
        let missing = opctl::grants::missing(&mutant.operator, &home, around);
        assert!(missing.iter().any(|missing| missing.verbs() == [mutant.verb.as_str()]), "{}", mutant.verb);
        let (plural, subresource) = mutant.resource.split_once('/').unwrap_or((&mutant.resource, ""));
        let lacks =
            format!("cannot {} resource \"{}\" in API group \"{}\"", mutant.verb, mutant.resource, mutant.group);
        Trial { name: format!("without-{}-{plural}{subresource}", mutant.verb), lacks, operator: mutant.operator }
    });
    // All at once, each in a namespace of its own.
    let trials: Vec<Trial> = std::iter::once(whole).chain(mutants).collect();
    let mut managers: Vec<(&Trial, Manager)> = trials.iter().map(|trial| (trial, trial.start(&cluster))).collect();
    let (whole, mutants) = managers.split_first_mut().unwrap();
    for (trial, manager) in mutants {
        eventually(&format!("a word about the right that is missing {}", trial.name), || {
            let log = manager.log();
            log.contains(&trial.lacks)
                && (log.contains("missing rights") || log.contains("not reconciled") || log.contains("watch failed"))
        });
    }
    let (trial, manager) = whole;
    let get = ["get", "memcached", "sample", "-n", &trial.name, "-o", "jsonpath={.status.conditions[0].reason}"];
    eventually("a status", || cluster.kubectl(&get, "") == "Progressing");
    let log = manager.log();
    assert!(!log.contains("forbidden") && !log.contains("failed"), "{log}");
}

/// An operator with the role that follows from its markers.
struct Trial {
    name: String,
    /// What the API server says of the right that it has not.
    lacks: String,
    operator: Operator,
}

impl Trial {
    fn start(&self, cluster: &ControlPlane) -> Manager {
        let name = &self.name;
        let manifests = emit::manifests(&[], &self.operator.rbac, &Options { namespaced: false }).unwrap();
        let role = manifests.into_iter().find(|manifest| manifest.path == "rbac/role.yaml").unwrap().text;
        cluster.kubectl(&["apply", "-f", "-"], &role.replace("name: manager-role", &format!("name: {name}")));
        cluster.kubectl(&["create", "namespace", name], "");
        cluster.kubectl(&["create", "serviceaccount", name, "-n", name], "");
        let account = format!("--serviceaccount={name}:{name}");
        cluster.kubectl(&["create", "clusterrolebinding", name, &format!("--clusterrole={name}"), &account], "");
        cluster.kubectl(&["apply", "-n", name, "-f", "-"], &object("sample", 1));
        Manager::start_in(cluster, &service_account(cluster, name, name), name, Some(name))
    }
}

const SYSTEM: &str = "memcached-operator-system";
const SAMPLE: &str = "memcached-sample";
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs targets of the example's Makefile.
fn make(cluster: &ControlPlane, arguments: &[&str]) {
    let path = format!("{}:{}", env::var("KUBEBUILDER_ASSETS").unwrap(), env::var("PATH").unwrap());
    let mut make = Command::new("make");
    make.current_dir(example()).args(arguments).env("PATH", path).env("KUBECONFIG", &cluster.kubeconfig);
    common::output(make);
}

/// A kubeconfig with the token of a service account.
fn service_account(cluster: &ControlPlane, namespace: &str, name: &str) -> PathBuf {
    let token = cluster.kubectl(&["create", "token", name, "-n", namespace], "");
    kubeconfig(cluster, name, token.trim())
}

/// A kubeconfig that holds no other credentials than a token.
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

fn can_i(cluster: &ControlPlane, kubeconfig: &Path, arguments: &[&str]) -> bool {
    let ask = ["auth", "can-i", "--quiet", "--kubeconfig", kubeconfig.to_str().unwrap()];
    cluster.run(&[&ask, arguments].concat(), "").status.success()
}

/// Tries until it is so.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        sleep(Duration::from_millis(200));
    }
}

fn object(name: &str, size: u8) -> String {
    format!(
        "{{apiVersion: cache.example.com/v1alpha1, kind: Memcached, metadata: {{name: {name}}}, spec: {{size: {size}}}}}"
    )
}

/// What kubectl tells about the namespace of the objects.
struct Zoo<'a>(&'a ControlPlane);

impl Zoo<'_> {
    fn run(&self, arguments: &[&str]) -> String {
        self.0.kubectl(&[&["-n", "zoo"], arguments].concat(), "")
    }

    fn apply(&self, name: &str, size: u8) {
        self.0.kubectl(&["-n", "zoo", "apply", "-f", "-"], &object(name, size));
    }

    /// An object, or a list; null when there is none.
    fn get(&self, what: &[&str]) -> Value {
        let text = self.run(&[&["get", "-o", "json", "--ignore-not-found"], what].concat());
        if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() }
    }

    /// The names of what belongs to the sample and stays, sorted.
    fn find(&self, resource: &str) -> Vec<String> {
        let list = self.get(&[resource, "-l", &format!("app.kubernetes.io/instance={SAMPLE}")]);
        let items = list["items"].as_array().into_iter().flatten();
        let staying = items.filter(|item| item["metadata"]["deletionTimestamp"].is_null());
        let mut names: Vec<_> = staying.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }

    fn pods(&self) -> Vec<String> {
        self.find("pod")
    }

    fn ready(&self, name: &str) -> Value {
        self.get(&["memcached", name])["status"]["conditions"][0].clone()
    }

    /// Waits until the sample has so many Pods, and status, Deployment and Pods agree.
    fn await_settled(&self, size: usize) {
        let what = format!("{size} servers, and the status says so");
        eventually(&what, || {
            let memcached = self.get(&["memcached", SAMPLE]);
            let deployment = self.get(&["deployment", SAMPLE]);
            let (status, ready) = (&memcached["status"], &memcached["status"]["conditions"][0]);
            let pods = self.pods();
            status["observedGeneration"] == memcached["metadata"]["generation"]
                && ready["type"] == "Ready"
                && ready["status"] == "True"
                && ready["reason"] == "Available"
                && ready["observedGeneration"] == memcached["metadata"]["generation"]
                && pods.len() == size
                && status["nodes"] == Value::from(pods)
                && deployment["spec"]["replicas"] == size
                && deployment["status"]["availableReplicas"] == size
                && deployment["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "memcached-operator"
                && deployment["metadata"]["ownerReferences"][0]["uid"] == memcached["metadata"]["uid"]
        });
    }
}

/// The operator as a process on this machine; killed when dropped.
struct Manager {
    child: Child,
    address: SocketAddr,
    log: PathBuf,
}

impl Manager {
    fn start(cluster: &ControlPlane, kubeconfig: &Path, name: &str) -> Self {
        Self::start_in(cluster, kubeconfig, name, None)
    }

    /// Watching this namespace only.
    fn start_in(cluster: &ControlPlane, kubeconfig: &Path, name: &str, namespace: Option<&str>) -> Self {
        // A port that was free a moment ago.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let log = cluster.folder.join(format!("{name}.log"));
        let child = Command::new(binary())
            .arg(format!("--http-address={address}"))
            .env("KUBECONFIG", kubeconfig)
            .env("RUST_LOG", "info")
            .env("WATCH_NAMESPACE", namespace.unwrap_or_default())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        Self { child, address, log }
    }

    /// The body of an answer; empty while nothing answers.
    fn get(&self, path: &str) -> String {
        let Ok(mut stream) = TcpStream::connect(self.address) else { return String::new() };
        let mut answer = String::new();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address).unwrap();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
    }

    /// As the kubelet does.
    fn terminate(&self) {
        let kill = format!("kill -TERM {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    fn exit(&mut self) -> ExitStatus {
        let mut status = None;
        eventually("an end of the manager", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the manager's log:\n{}", self.log());
        }
    }
}

/// Compiled once for all tests; a copy, since other operators are compiled to the same path.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        common::output(common::cargo(&example(), &["build", "--locked", "--bin", "manager"]));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("memcached-manager");
        fs::copy(common::operators_target().join("debug/manager"), &path).unwrap();
        path
    })
}
