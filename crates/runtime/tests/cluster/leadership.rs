//! Several replicas of an operator: one leads, another takes over, and a shutdown leaves no partial work.
//!
//! `OPCTL_TAKEOVERS` sets the number of leaders to kill; the test waits for the expiry of each Lease.

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use serde::de::DeserializeOwned;
use serde_json::{Deserializer, Value, json};

use crate::control_plane::ControlPlane;
use crate::example::CACHES;
use crate::manager::Manager;
use crate::objects::reconciles_of;
use crate::{RETRIES, within};

/// Long enough for a leader to renew it on a machine that runs other tests meanwhile.
const DURATION: Duration = Duration::from_secs(8);
const RETRY: Duration = Duration::from_secs(1);
/// Duration of a request on a machine that is busy with other tests.
const SLACK: Duration = Duration::from_secs(4);
/// Arguments for a test that waits until Leases expire.
pub const SHORT: [&str; 3] = ["--lease-duration=8", "--renew-deadline=7", "--retry-period=1"];

#[test]
fn one_replica_leads_and_another_takes_over_when_it_is_gone() {
    let Some(cluster) = ControlPlane::start("leadership", 0) else { return };
    CACHES.install(&cluster);
    CACHES.grant(&cluster);
    let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", CACHES.namespace());
    let history = History::record(&cluster, &leases);
    let replica = || Replica::start(&cluster, &SHORT);

    let mut leader = replica();
    within(RETRIES, "a leader", || leader.leads());
    let mut follower = replica();
    follower.0.becomes_ready();
    assert!(!follower.leads(), "a replica that waits is ready");
    let takeovers = env::var("OPCTL_TAKEOVERS").map_or(3, |number| number.parse().unwrap());
    for round in 0..takeovers {
        // Leaders of different ages: before, at and after their first renewal.
        sleep(RETRY * (round % 3));
        leader.0.signal("KILL");
        let killed = Instant::now();
        leader.0.exit();
        within(RETRIES, "the other one leads", || follower.leads());
        let waited = killed.elapsed();
        assert!(waited < DURATION + RETRY + SLACK, "{round}: {waited:?}");
        leader = std::mem::replace(&mut follower, replica());
    }
    cluster.kubectl(&["apply", "-f", "-"], &objects(&BTreeSet::from(["one".to_owned()])));
    within(RETRIES, "a Deployment", || deployments(&cluster).contains("one"));

    // The shutdown releases the Lease at once.
    assert!(leader.0.terminate().success());
    let released = Instant::now();
    within(RETRIES, "the other one leads", || follower.leads());
    assert!(released.elapsed() < RETRY + SLACK, "{:?}", released.elapsed());
    leader = std::mem::replace(&mut follower, replica());
    follower.0.becomes_ready();

    // After it was stopped for too long, it finds another leader and exits.
    leader.0.signal("STOP");
    within(RETRIES, "the other one leads", || follower.leads());
    leader.0.signal("CONT");
    assert_eq!(leader.0.exit().code(), Some(1));
    let log = leader.0.log();
    assert!(log.contains("this replica is no longer the leader"), "{log}");

    history.never_has_two_leaders(takeovers as i32 + 3);
}

#[test]
fn a_shutdown_amid_200_reconciles_leaves_nothing_half_written() {
    let Some(cluster) = ControlPlane::start("shutdown", 0) else { return };
    CACHES.install(&cluster);
    CACHES.grant(&cluster);
    let names: BTreeSet<String> = (0..200).map(|number| format!("sample-{number}")).collect();
    cluster.kubectl(&["create", "-f", "-"], &objects(&names));
    let mut replica = Replica::start(&cluster, &[]);
    let start = Instant::now();
    // The first reconcile of each object adds the finalizer; later ones are interleaved.
    while replica.reconciles() < 150 {
        assert!(start.elapsed() < Duration::from_secs(60), "no reconciles");
    }
    assert!(replica.0.terminate().success(), "{}", replica.0.log());

    let written = list(&cluster, "deployments");
    assert!((1..200).contains(&written.len()), "it ended amid them: {}", written.len());
    for deployment in &written {
        let object = deployment["metadata"]["name"].as_str().unwrap();
        assert!(names.contains(object), "{object}");
        assert_eq!(deployment["metadata"]["ownerReferences"][0]["name"], object);
        assert_eq!(deployment["spec"]["replicas"], 1);
        assert!(deployment["spec"]["template"]["spec"]["containers"][0]["image"].is_string(), "{deployment}");
    }
    let holder = ["get", "lease", "caches", "-n", &CACHES.namespace(), "-o", "jsonpath={.spec.holderIdentity}"];
    assert_eq!(cluster.kubectl(&holder, ""), "", "released");

    let _again = Replica::start(&cluster, &[]);
    within(RETRIES, "all Deployments and statuses", || {
        let caches = list(&cluster, "caches");
        deployments(&cluster) == names && caches.iter().all(|object| object["status"]["observedGeneration"] == 1)
    });
}

/// A process with only the permissions of the example.
struct Replica(Manager);

impl Replica {
    fn start(cluster: &ControlPlane, lease: &[&str]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (account, namespace) = (CACHES.service_account(cluster), CACHES.namespace());
        let name = format!("replica-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let arguments = [&["--leader-elect", "--leader-election-namespace", &namespace], lease].concat();
        Self(Manager::start(CACHES.program(), &account, &name, &arguments))
    }

    fn leads(&self) -> bool {
        self.0.metrics().lines().any(|line| line == "controller_leader 1")
    }

    fn reconciles(&self) -> u32 {
        reconciles_of(&self.0)
    }
}

/// All states of objects, in order.
pub struct History {
    watch: Child,
    file: PathBuf,
}

impl History {
    /// Records the objects below this path.
    pub fn record(cluster: &ControlPlane, path: &str) -> Self {
        let file = cluster.folder.join("history.json");
        let watch = Command::new(&cluster.kubectl)
            .args(["get", "--raw", &format!("{path}?watch=1")])
            .env("KUBECONFIG", &cluster.kubeconfig)
            .stdout(File::create(&file).unwrap())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        Self { watch, file }
    }

    pub fn states<K: DeserializeOwned>(&self) -> Vec<K> {
        let text = fs::read_to_string(&self.file).unwrap();
        Deserializer::from_str(&text)
            .into_iter::<Value>()
            // The last one may be incomplete.
            .map_while(Result::ok)
            .map(|mut event| serde_json::from_value(event["object"].take()).unwrap())
            .collect()
    }

    /// Compares times that replicas wrote, since all replicas run on one machine.
    fn never_has_two_leaders(&self, terms: i32) {
        let states: Vec<Lease> = self.states();
        let specs: Vec<&LeaseSpec> = states.iter().map(|lease| lease.spec.as_ref().unwrap()).collect();
        for pair in specs.windows(2) {
            let [before, after] = pair else { unreachable!() };
            let transitions = after.lease_transitions.unwrap() - before.lease_transitions.unwrap();
            let holder = before.holder_identity.as_deref().unwrap();
            if before.holder_identity == after.holder_identity {
                assert_eq!((transitions, &after.acquire_time), (0, &before.acquire_time), "{pair:?}");
            } else if after.holder_identity.as_deref() == Some("") {
                assert_eq!(transitions, 0, "{pair:?}");
            } else {
                let [renewed, acquired] =
                    [&before.renew_time, &after.acquire_time].map(|time| time.as_ref().unwrap().0);
                let waited = Duration::try_from(acquired.duration_since(renewed)).unwrap();
                assert!(holder.is_empty() || waited >= DURATION, "{pair:?}");
                assert_eq!(transitions, 1, "{pair:?}");
            }
        }
        let renewals = specs.windows(2).filter(|pair| pair[0].holder_identity == pair[1].holder_identity).count();
        assert!(renewals >= terms as usize / 2, "renewals are seen");
        assert_eq!(specs.last().unwrap().lease_transitions, Some(terms - 1), "the number of leader changes");
    }
}

impl Drop for History {
    fn drop(&mut self) {
        let _ = self.watch.kill();
        let _ = self.watch.wait();
    }
}

fn objects(names: &BTreeSet<String>) -> String {
    let object = |name| {
        let (version, metadata) = ("cache.example.com/v1", json!({ "name": name, "namespace": "default" }));
        json!({ "apiVersion": version, "kind": "Cache", "metadata": metadata, "spec": { "size": 1 } })
    };
    json!({ "apiVersion": "v1", "kind": "List", "items": names.iter().map(object).collect::<Vec<_>>() }).to_string()
}

fn list(cluster: &ControlPlane, resource: &str) -> Vec<Value> {
    let text = cluster.kubectl(&["get", resource, "-n", "default", "-o", "json"], "");
    let mut list: Value = serde_json::from_str(&text).unwrap();
    serde_json::from_value(list["items"].take()).unwrap()
}

/// The names of the Deployments.
fn deployments(cluster: &ControlPlane) -> BTreeSet<String> {
    let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
    list(cluster, "deployments").iter().map(name).collect()
}
