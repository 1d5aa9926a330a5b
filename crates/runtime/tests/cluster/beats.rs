//! A leader that cannot react, since its threads are blocked or its process is stopped, on a real API server.

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;

use crate::control_plane::ControlPlane;
use crate::example::BEATS;
use crate::leadership::{History, SHORT};
use crate::manager::Manager;
use crate::{RETRIES, within};

/// An hour, in seconds: longer than the test.
const FOREVER: u32 = 3600;

fn replica(cluster: &ControlPlane, name: &str) -> Manager {
    let arguments = [&["--leader-elect", "--leader-election-namespace=default"], &SHORT[..]].concat();
    Manager::start(BEATS.program(), cluster.kubeconfig.as_ref(), name, &arguments)
}

fn leads(replica: &Manager) -> bool {
    replica.metrics().contains("\ncontroller_leader 1\n")
}

/// The process that wrote last, and its count.
fn beat(cluster: &ControlPlane) -> String {
    let shown = ["get", "configmap", "beats", "-o", "jsonpath={.data.writer} {.data.count}", "--ignore-not-found"];
    cluster.kubectl(&shown, "")
}

/// Waits until this replica writes, and returns its process.
fn writer(cluster: &ControlPlane, replica: &Manager) -> String {
    let mut writer = String::new();
    within(RETRIES, "a leader that writes", || {
        let log = replica.log();
        writer = log.lines().find_map(|line| line.strip_prefix("writer ")).unwrap_or("none").to_owned();
        beat(cluster).starts_with(&format!("{writer} "))
    });
    writer
}

fn lease(cluster: &ControlPlane, field: &str) -> String {
    cluster.kubectl(&["get", "lease", "beats", "-o", &format!("jsonpath={{.spec.{field}}}")], "")
}

/// A leading replica whose threads are blocked.
fn blocked(cluster: &ControlPlane, name: &str, seconds: u32) -> Manager {
    let leader = replica(cluster, name);
    writer(cluster, &leader);
    let metadata = json!({ "name": "blocks", "labels": { "blocks": "true" } });
    let data = json!({ "seconds": seconds.to_string() });
    let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data });
    cluster.kubectl(&["apply", "-f", "-"], &object.to_string());
    within(RETRIES, "blocked threads", || leader.log().contains("\nblocked\n"));
    leader
}

#[test]
fn a_leader_whose_threads_are_blocked_keeps_its_lease() {
    let Some(cluster) = ControlPlane::start("blocked", 0) else { return };
    let mut leader = blocked(&cluster, "leader", 24);
    let mut follower = replica(&cluster, "follower");
    follower.becomes_ready();
    within(RETRIES, "the threads go on", || {
        assert!(!leads(&follower), "the Lease was not renewed");
        leader.log().contains("\nunblocked\n")
    });
    let before = beat(&cluster);
    within(RETRIES, "it writes", || beat(&cluster) != before);
    assert_eq!(lease(&cluster, "leaseTransitions"), "0");

    // The shutdown releases the Lease.
    cluster.kubectl(&["delete", "configmap", "blocks"], "");
    assert!(leader.terminate().success(), "{}", leader.log());
    within(RETRIES, "the other one leads", || leads(&follower));
}

#[test]
fn a_leader_whose_threads_are_blocked_ends_when_it_loses_its_lease() {
    let Some(cluster) = ControlPlane::start("blocked-lost", 0) else { return };
    let mut leader = blocked(&cluster, "robbed", FOREVER);
    let before = beat(&cluster);
    let thief = r#"{"spec":{"holderIdentity":"thief"}}"#;
    cluster.kubectl(&["patch", "lease", "beats", "--type=merge", "-p", thief], "");
    assert_eq!(leader.exit().code(), Some(1));
    assert!(leader.log().contains("the Lease is held by `thief`"), "{}", leader.log());
    assert_eq!((beat(&cluster), lease(&cluster, "holderIdentity").as_str()), (before, "thief"));

    cluster.kubectl(&["delete", "configmap", "blocks"], "");
    let mut leader = blocked(&cluster, "alone", FOREVER);
    assert!(cluster.lock().unwrap().kill("kube-apiserver"));
    assert_eq!(leader.exit().code(), Some(1));
    assert!(leader.log().contains("no renewal in 7 seconds"), "{}", leader.log());
}

/// The bytes that the process was sending when it was stopped may be in the kernel already, or in a system call: no
/// program can take them back.
#[test]
fn a_leader_that_was_stopped_begins_no_write_after_it_continues() {
    let Some(cluster) = ControlPlane::start("stopped", 0) else { return };
    let history = History::record(&cluster, "/api/v1/namespaces/default/configmaps");
    let mut leader = replica(&cluster, "0");
    let mut writers = vec![writer(&cluster, &leader)];
    let mut begun = Vec::new();
    for round in 1..=3 {
        let follower = replica(&cluster, &round.to_string());
        // Its first write is complete when it begins the second one.
        within(RETRIES, "it writes twice", || {
            leader.log().lines().filter(|line| line.starts_with("sends ")).count() > 1
        });
        leader.signal("STOP");
        let successor = writer(&cluster, &follower);
        let log = leader.log();
        let last = log.lines().filter_map(|line| line.strip_prefix("sends ")).next_back().unwrap();
        begun.push(format!("{} {last}", writers.last().unwrap()));
        writers.push(successor);
        leader.signal("CONT");
        assert_eq!(leader.exit().code(), Some(1));
        assert!(leader.log().contains("this replica is no longer the leader"), "{}", leader.log());
        leader = follower;
    }
    let mut seen: Vec<String> = Vec::new();
    let last = beat(&cluster);
    within(RETRIES, "all writes are seen", || {
        let states: Vec<ConfigMap> = history.states();
        let beats = states.into_iter().filter(|object| object.metadata.name.as_deref() == Some("beats"));
        let beats = beats.filter_map(|object| object.data);
        seen = beats.map(|data| format!("{} {}", data["writer"], data["count"])).collect();
        seen.contains(&last)
    });
    seen.retain(|beat| !begun.contains(beat));
    let mut seen: Vec<&str> = seen.iter().map(|beat| beat.split_once(' ').unwrap().0).collect();
    seen.dedup();
    assert_eq!(seen, writers, "without {begun:?}");
}
