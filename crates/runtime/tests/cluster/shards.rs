//! Several active replicas on a real API server: each object is reconciled by one at a time, none is forgotten, and
//! slots move when replicas come, go, crash or are stopped.
//!
//! `OPCTL_SHARD_ROUNDS` sets the number of rounds of chaos.

use std::collections::BTreeMap;
use std::env;
use std::process::id;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::example::SHARES;
use crate::manager::Manager;
use crate::{RETRIES, within};

const SLOTS: usize = 8;
const OBJECTS: usize = 24;
/// The arguments of leader election: Leases expire after eight seconds.
const ARGUMENTS: [&str; 5] = [
    "--shards=8",
    "--leader-election-namespace=default",
    "--lease-duration=8",
    "--renew-deadline=6",
    "--retry-period=1",
];

/// The replicas of an operator, with those that have ended.
struct Group<'a> {
    cluster: &'a ControlPlane,
    running: Vec<Replica>,
    ended: Vec<Replica>,
    /// Distinguishes values of objects.
    round: usize,
}

struct Replica {
    manager: Manager,
    /// The time at which it was stopped or killed: what it did until then has ended.
    halted: Option<u128>,
}

impl<'a> Group<'a> {
    fn new(cluster: &'a ControlPlane) -> Self {
        Self { cluster, running: Vec::new(), ended: Vec::new(), round: 0 }
    }

    fn scale(&mut self, replicas: usize) {
        while self.running.len() < replicas {
            let name = format!("share-{}-{}", id(), self.running.len() + self.ended.len());
            let manager = Manager::start(SHARES.program(), self.cluster.kubeconfig.as_ref(), &name, &ARGUMENTS);
            self.running.push(Replica { manager, halted: None });
        }
        while self.running.len() > replicas {
            let mut replica = self.running.remove(0);
            let status = replica.manager.terminate();
            assert!(status.success(), "{}", replica.manager.log());
            self.ended.push(replica);
        }
    }

    fn kill(&mut self) {
        let mut replica = self.running.remove(0);
        replica.halted = Some(now());
        replica.manager.signal("KILL");
        replica.manager.exit();
        self.ended.push(replica);
    }

    /// Stops a replica for longer than its Lease lasts.
    fn freeze(&mut self) {
        let mut replica = self.running.remove(0);
        replica.manager.signal("STOP");
        replica.halted = Some(now());
        self.settles("after one was stopped");
        self.change();
        self.is_served("the others reconcile");
        replica.manager.signal("CONT");
        assert_eq!(replica.manager.exit().code(), Some(1), "another replica has deleted its Lease");
        let resumed =
            lines(&replica).iter().any(|(time, event)| *time > replica.halted.unwrap() && event.starts_with("begins"));
        assert!(!resumed, "a reconcile began after the term");
        self.ended.push(replica);
    }

    /// Writes a new value into each object.
    fn change(&mut self) {
        self.round += 1;
        let object = |number| {
            let metadata =
                json!({ "name": format!("shared-{number}"), "namespace": "default", "labels": { "shared": "true" } });
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": { "value": self.round.to_string() } })
        };
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": (0..OBJECTS).map(object).collect::<Vec<_>>() });
        self.cluster.kubectl(&["apply", "--server-side", "--force-conflicts", "-f", "-"], &list.to_string());
    }

    /// Waits until the Secret of each object has the last value.
    fn is_served(&self, what: &str) {
        let value = base64(&self.round.to_string());
        within(RETRIES, what, || {
            let text = self.cluster.kubectl(&["get", "secrets", "-l", "copy=true", "-o", "json"], "");
            let list: Value = serde_json::from_str(&text).unwrap();
            let items = list["items"].as_array().unwrap();
            items.len() == OBJECTS && items.iter().all(|secret| secret["data"]["value"] == value)
        });
    }

    /// Waits until each running replica has its share of the slots. Returns the time that it took.
    fn settles(&self, what: &str) -> Duration {
        let start = Instant::now();
        within(RETRIES, what, || {
            let shares: Vec<usize> = self.running.iter().map(|replica| slots(&replica.manager)).collect();
            let least = SLOTS / self.running.len();
            shares.iter().sum::<usize>() == SLOTS && shares.iter().all(|share| (least..=least + 1).contains(share))
        });
        start.elapsed()
    }

    /// No object is reconciled by two replicas at the same time, and each replica reconciles.
    fn never_overlaps(&self) {
        let mut intervals: BTreeMap<String, Vec<(u128, u128, usize)>> = BTreeMap::new();
        for (number, replica) in self.running.iter().chain(&self.ended).enumerate() {
            let end = replica.halted.unwrap_or_else(now);
            let mut open: BTreeMap<String, u128> = BTreeMap::new();
            for (time, event) in lines(replica).into_iter().filter(|(time, _)| *time <= end) {
                match event.split_once(' ') {
                    Some(("begins", uid)) => {
                        assert!(open.insert(uid.to_owned(), time).is_none(), "twice in one replica")
                    }
                    Some(("ends", uid)) => {
                        let begin = open.remove(uid).expect("it has begun");
                        intervals.entry(uid.to_owned()).or_default().push((begin, time, number));
                    }
                    _ => {}
                }
            }
            for (uid, begin) in open {
                intervals.entry(uid).or_default().push((begin, end, number));
            }
        }
        assert_eq!(intervals.len(), OBJECTS);
        let mut handovers = 0;
        for (uid, mut all) in intervals {
            all.sort_unstable();
            for pair in all.windows(2) {
                let [(_, end, one), (begin, _, other)] = pair else { unreachable!() };
                assert!(
                    one == other || end <= begin,
                    "{uid} is reconciled by replicas {one} and {other} at once: {pair:?}"
                );
                handovers += usize::from(one != other);
            }
        }
        println!("{handovers} objects changed hands, none was reconciled by two replicas at once");
        assert!(handovers >= OBJECTS, "slots moved");
    }

    /// At most one replica leads at a time.
    fn has_one_leader(&self) {
        let mut terms: Vec<(u128, u128)> = Vec::new();
        for replica in self.running.iter().chain(&self.ended) {
            let end = replica.halted.unwrap_or_else(now);
            let all = lines(replica);
            let time = |wanted: &str| all.iter().find(|(_, event)| event == wanted).map(|(time, _)| *time);
            if let Some(begin) = time("leads") {
                terms.push((begin, time("leads no more").unwrap_or(end).min(end)));
            }
        }
        terms.sort_unstable();
        assert!(terms.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{terms:?}");
        assert!(terms.len() > 1, "the leader changed");
    }
}

#[test]
fn replicas_share_the_objects_and_none_is_reconciled_twice_at_once() {
    let Some(cluster) = ControlPlane::start("shards", 0) else { return };
    let mut group = Group::new(&cluster);
    let rounds: usize = env::var("OPCTL_SHARD_ROUNDS").map_or(1, |rounds| rounds.parse().unwrap());
    group.scale(1);
    group.change();
    group.is_served("one replica reconciles all");
    for round in 0..rounds {
        group.scale(3);
        group.change();
        println!("round {round}: 1 to 3 replicas took {:?}", group.settles("three shares"));
        group.is_served("after scaling up");
        group.change();
        group.kill();
        println!("round {round}: after kill -9, {:?}", group.settles("two shares"));
        group.is_served("after a crash");
        group.scale(3);
        group.settles("three shares again");
        group.freeze();
        group.change();
        group.scale(1);
        println!("round {round}: 2 to 1 replicas took {:?}", group.settles("one share"));
        group.is_served("after scaling down");
    }
    // A rolling update: the new replicas start before the old one ends.
    group.scale(3);
    group.change();
    group.running[0].manager.terminate();
    let old = group.running.remove(0);
    group.ended.push(old);
    group.is_served("after an update");
    group.never_overlaps();
    group.has_one_leader();

    group.scale(0);
    let leases = cluster.kubectl(&["get", "leases", "-o", "json"], "");
    let leases: Value = serde_json::from_str(&leases).unwrap();
    let holder =
        |name: &str| leases["items"].as_array().unwrap().iter().find(|it| it["metadata"]["name"] == name).cloned();
    assert_eq!(
        holder("shares").unwrap()["spec"]["holderIdentity"],
        "",
        "the last replica releases the operator's Lease"
    );
    assert_eq!(leases["items"].as_array().unwrap().len(), SLOTS + 1, "no Lease of a replica is left");
}

#[test]
fn a_single_leader_and_sharing_replicas_never_run_at_once() {
    let Some(cluster) = ControlPlane::start("unsharded", 0) else { return };
    let start = |name: &str, first: &str| {
        let arguments = [&[first], &ARGUMENTS[1..]].concat();
        Manager::start(SHARES.program(), cluster.kubeconfig.as_ref(), name, &arguments)
    };
    let reconciles = |manager: &Manager| manager.log().contains("leads\n");
    let mut single = start("single", "--leader-elect");
    within(RETRIES, "a single leader", || reconciles(&single));
    let mut eight = start("eight", "--shards=8");
    let mut four = start("four", "--shards=4");
    eight.becomes_ready();
    four.becomes_ready();
    sleep(Duration::from_secs(10));
    assert!(slots(&eight) == 0 && slots(&four) == 0, "they wait");
    assert!(single.terminate().success());
    within(RETRIES, "one of the others", || slots(&eight) == 8 || slots(&four) == 4);
    sleep(Duration::from_secs(10));
    let shares = (slots(&eight), slots(&four));
    assert!(matches!(shares, (8, 0) | (0, 4)), "{shares:?}");
    let (mut first, second) = if shares.0 == 8 { (eight, four) } else { (four, eight) };
    assert!(first.terminate().success());
    within(RETRIES, "the other number of slots", || slots(&second) > 0);
}

/// The number of slots of a replica.
fn slots(manager: &Manager) -> usize {
    let metrics = manager.metrics();
    let number = metrics.lines().find_map(|line| line.strip_prefix("controller_slots "));
    number.map_or(0, |number| number.parse().unwrap())
}

/// The times and texts that a replica printed.
fn lines(replica: &Replica) -> Vec<(u128, String)> {
    let log = replica.manager.log();
    let line = |line: &str| {
        let (time, event) = line.split_once(' ')?;
        Some((time.parse().ok()?, event.to_owned()))
    };
    log.lines().filter_map(line).collect()
}

fn now() -> u128 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap().as_micros()
}

/// Encodes a number of at most three digits.
fn base64(digits: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u32> = digits.bytes().map(u32::from).chain([0, 0]).take(3).collect();
    let bits = bytes[0] << 16 | bytes[1] << 8 | bytes[2];
    let symbol = |at: usize| match at <= digits.len() {
        true => char::from(ALPHABET[(bits >> (18 - 6 * at) & 63) as usize]),
        false => '=',
    };
    (0..4).map(symbol).collect()
}
