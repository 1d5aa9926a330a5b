//! An operator during failures of the cluster: it loses nothing, needs no restart, and its log stays readable.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::control_plane::ControlPlane;
use crate::example::CACHES;
use crate::objects::{cache, reconciles_of};
use crate::{RETRIES, within};

/// The operator misses the changes between its last event and the exit of the API server, so its watches start at a
/// version that the new API server does not know ("410 Gone"): it must list everything again.
#[test]
fn an_api_server_that_restarts_and_watches_that_expire_lose_nothing() {
    let Some(cluster) = ControlPlane::start("restart", 0) else { return };
    let start = Instant::now();
    let zoo = Zoo::new(&cluster, 8);
    let mut manager = CACHES.run(&cluster, &[]);
    zoo.await_reconciled(8);

    manager.signal("STOP");
    zoo.apply("m0", 3);
    zoo.apply("new", 2);
    zoo.run(&["delete", "cache", "m1", "--wait=false"]);
    zoo.run(&["delete", "deployment", "m2"]);
    assert!(cluster.lock().unwrap().kill("kube-apiserver"));
    manager.signal("CONT");
    sleep(Duration::from_secs(5));
    cluster.lock().unwrap().restart("kube-apiserver").unwrap();
    within(RETRIES, "an API server", || cluster.run(&["get", "--raw", "/readyz"], "").status.success());
    zoo.await_reconciled(8);
    assert!(zoo.get(&["cache", "m1"]).is_null(), "the finalizer of what was deleted meanwhile is off");

    // The watches work again: changes need no further list.
    zoo.apply("m3", 4);
    zoo.await_reconciled(8);
    let log = manager.log();
    assert!(log.contains("410") || log.contains("too old resource version"), "no watch expired:\n{log}");
    assert_no_flood(&log, start);
    assert_eq!(manager.terminate().code(), Some(0));
}

#[test]
fn two_that_write_the_same_fields_are_no_endless_loop() {
    let Some(cluster) = ControlPlane::start("storm", 0) else { return };
    let zoo = Zoo::new(&cluster, 3);
    let manager = CACHES.run(&cluster, &[]);
    zoo.await_reconciled(3);

    let before = reconciles_of(&manager);
    let over = AtomicBool::new(false);
    let writes: u32 = thread::scope(|scope| {
        let writers = ["m0", "m1", "m2"].map(|name| {
            let (zoo, over) = (&zoo, &over);
            scope.spawn(move || {
                let mut writes = 0;
                while !over.load(Ordering::Relaxed) {
                    zoo.interfere(name, writes);
                    writes += 1;
                }
                writes
            })
        });
        sleep(Duration::from_secs(5));
        over.store(true, Ordering::Relaxed);
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    zoo.await_reconciled(3);
    for name in ["m0", "m1", "m2"] {
        let (cache, deployment) = (zoo.get(&["cache", name]), zoo.get(&["deployment", name]));
        assert_eq!(deployment["metadata"]["labels"]["app.kubernetes.io/managed-by"], "caches");
        assert!(deployment["metadata"]["annotations"]["example.com/other"].is_string(), "of another: {deployment}");
        let conditions = cache["status"]["conditions"].as_array().unwrap();
        let mut types: Vec<&str> = conditions.iter().map(|condition| condition["type"].as_str().unwrap()).collect();
        types.sort_unstable();
        assert_eq!(types, ["Ready", "Reviewed"]);
        assert_ne!(cache["status"]["replicas"], 99);
    }

    // Each interfering write causes one of the operator and some of the Deployment controller, each of which is an
    // event.
    let reconciles = reconciles_of(&manager);
    assert!(writes > 10, "no storm: {writes} writes");
    assert!(reconciles - before < 10 * writes, "{} reconciles after {writes} writes", reconciles - before);
    sleep(Duration::from_secs(3));
    assert_eq!(reconciles_of(&manager), reconciles, "it goes on though all is as it should be");
}

#[test]
fn rights_and_crds_may_go_and_come_back() {
    let Some(cluster) = ControlPlane::start("rights", 0) else { return };
    let start = Instant::now();
    let zoo = Zoo::new(&cluster, 1);
    let mut manager = CACHES.run(&cluster, &[]);
    zoo.await_reconciled(1);

    cluster.kubectl(&["delete", "clusterrolebinding", "caches"], "");
    let account = "--as=system:serviceaccount:caches-system:caches";
    let may = || cluster.run(&["-n", "zoo", "auth", "can-i", "patch", "deployments", account], "").status.success();
    within(RETRIES, "the right is gone", || !may());
    zoo.apply("m0", 2);
    let lacks = "cannot patch resource \"deployments\" in API group \"apps\" in the namespace \"zoo\"";
    within(RETRIES, "a word about the right that it lacks", || manager.log().contains(lacks));
    assert!(manager.metrics().contains(r#"reason="RequestFailed"}"#));
    CACHES.grant(&cluster);
    zoo.await_reconciled(1);

    // Deletes the objects too, whose finalizers the operator removes.
    cluster.kubectl(&["delete", "crd", "caches.cache.example.com"], "");
    let gone = "watch of Cache failed, it starts again";
    within(RETRIES, "a word about the CRD that is gone", || manager.log().contains(gone));
    CACHES.install(&cluster);
    zoo.apply("again", 1);
    zoo.await_reconciled(1);
    let log = manager.log();
    assert_no_flood(&log, start);
    assert_eq!(manager.terminate().code(), Some(0));
}

/// Asserts one line per try, and at most one try per second; logs of libraries are not counted.
fn assert_no_flood(log: &str, start: Instant) {
    let lines = |words: &str| log.lines().filter(|line| line.contains(words)).count() as u64;
    let seconds = start.elapsed().as_secs();
    assert!(lines("failed, it starts again") < seconds && lines("reconcile failed") < seconds, "a flood:\n{log}");
}

/// The namespace of the objects.
struct Zoo<'a>(&'a ControlPlane);

impl<'a> Zoo<'a> {
    /// Creates this number of objects: `m0`, `m1` and so on.
    fn new(cluster: &'a ControlPlane, objects: usize) -> Self {
        CACHES.install(cluster);
        CACHES.grant(cluster);
        cluster.kubectl(&["create", "namespace", "zoo"], "");
        let zoo = Self(cluster);
        let all: Vec<String> = (0..objects).map(|index| cache(&format!("m{index}"), 1)).collect();
        cluster.kubectl(&["-n", "zoo", "apply", "-f", "-"], &all.join("\n---\n"));
        zoo
    }

    fn run(&self, arguments: &[&str]) -> String {
        self.0.kubectl(&[&["-n", "zoo"], arguments].concat(), "")
    }

    fn apply(&self, name: &str, size: u8) {
        self.0.kubectl(&["-n", "zoo", "apply", "-f", "-"], &cache(name, size));
    }

    /// An object, or a list; null if it does not exist.
    fn get(&self, what: &[&str]) -> Value {
        let text = self.run(&[&["get", "-o", "json", "--ignore-not-found"], what].concat());
        if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() }
    }

    /// Waits until this number of objects exists, each with its Deployment and a current status.
    fn await_reconciled(&self, objects: usize) {
        within(RETRIES, &format!("{objects} objects with their Deployments"), || {
            // Right after a CRD was installed again, the API server does not list its objects.
            let list = |resource: &str| self.get(&[resource])["items"].as_array().cloned().unwrap_or_default();
            let replicas = |deployment: &Value| deployment["status"]["replicas"].as_i64().unwrap_or(0);
            let (caches, deployments) = (list("caches"), list("deployments"));
            let has_its_own = |cache: &Value| {
                let name = &cache["metadata"]["name"];
                let status = &cache["status"];
                status["observedGeneration"] == cache["metadata"]["generation"]
                    && cache["metadata"]["deletionTimestamp"].is_null()
                    && deployments.iter().any(|deployment| {
                        deployment["metadata"]["name"] == *name
                            && deployment["spec"]["replicas"] == cache["spec"]["size"]
                            && deployment["metadata"]["ownerReferences"][0]["uid"] == cache["metadata"]["uid"]
                            && status["replicas"].as_i64() == Some(replicas(deployment))
                    })
            };
            caches.len() == objects && caches.iter().all(has_its_own)
        });
    }

    /// Changes fields that the operator applies, and others beside them.
    fn interfere(&self, name: &str, turn: u32) {
        let patch = |what: &[&str], patch: &str| {
            self.run(&[&["patch", "--type=merge", "--patch", patch], what].concat());
        };
        match turn % 3 {
            0 => patch(
                &["deployment", name],
                &format!(
                    r#"{{"spec": {{"replicas": 0}}, "metadata": {{
                        "labels": {{"app.kubernetes.io/managed-by": "me"}},
                        "annotations": {{"example.com/other": "{turn}"}}}}}}"#
                ),
            ),
            1 => patch(&["cache", name, "--subresource=status"], r#"{"status": {"replicas": 99}}"#),
            _ => patch(
                &["cache", name, "--subresource=status"],
                r#"{"status": {"conditions": [{"type": "Reviewed", "status": "True", "reason": "Seen", "message": "",
                    "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}"#,
            ),
        }
    }
}
