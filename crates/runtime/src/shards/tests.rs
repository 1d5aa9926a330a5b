//! Replicas on a mock API server that keeps Leases, by its rules for versions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::leader_election::Claim;
use crate::testing::{self, Call, status};
use crate::{Context, Operator};

const OPERATOR: Operator = Operator { name: "sample", version: "1.2.3" };

/// The Leases by name.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    leases: BTreeMap<String, Value>,
    version: u32,
    writes: u32,
}

impl Server {
    fn answer(&self, call: &Call) -> (u16, Value) {
        let mut guard = self.0.lock().unwrap();
        let state = &mut *guard;
        let version = |lease: &Value| lease["metadata"]["resourceVersion"].clone();
        let name = match call.method.as_str() {
            "POST" => call.body["metadata"]["name"].as_str().unwrap().to_owned(),
            _ => call.path.rsplit('/').next().unwrap().to_owned(),
        };
        let old = state.leases.get(&name);
        match call.method.as_str() {
            "GET" if name == "leases" => {
                let mine = |lease: &&Value| lease["metadata"]["labels"]["opctl-runtime/operator"] == "sample";
                let items: Vec<&Value> = state.leases.values().filter(mine).collect();
                return (200, json!({ "metadata": {}, "items": items }));
            }
            "GET" => return old.map_or((404, status(404, "NotFound")), |lease| (200, lease.clone())),
            "POST" if old.is_some() => return (409, status(409, "AlreadyExists")),
            "PUT" | "DELETE" if old.is_none() => return (404, status(404, "NotFound")),
            "PUT" if version(old.unwrap()) != version(&call.body) => return (409, status(409, "Conflict")),
            "DELETE" => {
                let wanted = &call.body["preconditions"]["resourceVersion"];
                if !wanted.is_null() && *wanted != version(old.unwrap()) {
                    return (409, status(409, "Conflict"));
                }
                state.leases.remove(&name);
                return (200, status(200, "Success"));
            }
            _ => {}
        }
        state.version += 1;
        state.writes += 1;
        let mut lease = call.body.clone();
        lease["metadata"]["resourceVersion"] = state.version.to_string().into();
        state.leases.insert(name, lease.clone());
        (200, lease)
    }

    fn start(&self, slots: &str) -> Replica {
        let server = self.clone();
        let (client, _) = testing::api_server(move |call| server.answer(call));
        let options = testing::options([format!("--shards={slots}").as_str()]);
        let term = Term::default();
        let slots = Manager::slots(&options, &term, &Metrics::new(OPERATOR)).unwrap();
        let mut ctx = Context::new(client.clone(), OPERATOR, options);
        ctx.slots = Some(slots.clone());
        let (elected, released) = (CancellationToken::new(), CancellationToken::new());
        let claim = {
            let (ctx, elected, released, slots) = (ctx.clone(), elected.clone(), released.clone(), slots.clone());
            tokio::spawn(async move {
                let mut membership = Membership::new(&client, &ctx, slots, term);
                tokio::select! {
                    lost = membership.lead(&ctx, &elected) => lost.to_string(),
                    () = released.cancelled() => {
                        membership.release().await;
                        "released".to_owned()
                    }
                }
            })
        };
        Replica { ctx, slots, elected, released, claim }
    }

    /// The holder of each slot's Lease.
    fn holders(&self) -> Vec<String> {
        let state = self.0.lock().unwrap();
        let slots = state.leases.values().filter(|it| it["metadata"]["labels"]["opctl-runtime/slot"].is_string());
        slots.map(|lease| lease["spec"]["holderIdentity"].as_str().unwrap().to_owned()).collect()
    }

    fn writes(&self) -> u32 {
        self.0.lock().unwrap().writes
    }

    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.lock().unwrap());
    }
}

struct Replica {
    ctx: Context,
    slots: Arc<Slots>,
    elected: CancellationToken,
    released: CancellationToken,
    claim: JoinHandle<String>,
}

impl Replica {
    fn count(&self) -> usize {
        self.slots.owned().slots.len()
    }

    /// Ends without a trace, like SIGKILL.
    fn kill(&self) {
        self.claim.abort();
    }

    async fn shut_down(self) {
        self.ctx.stop();
        self.released.cancel();
        assert_eq!(self.claim.await.unwrap(), "released");
    }
}

async fn after(seconds: u64) {
    sleep(Duration::from_secs(seconds)).await;
}

/// No slot belongs to two of these replicas.
fn are_disjoint(replicas: &[&Replica]) {
    let mut all: Vec<_> = replicas.iter().flat_map(|it| it.slots.owned().slots.into_keys()).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[tokio::test(start_paused = true)]
async fn slots_follow_the_number_of_replicas() {
    let server = Server::default();
    let first = server.start("16");
    after(5).await;
    assert_eq!(first.count(), 16);
    assert!(first.elected.is_cancelled(), "the holder of slot 0 leads");
    let (second, third) = (server.start("16"), server.start("16"));
    after(10).await;
    let mut shares = [first.count(), second.count(), third.count()];
    are_disjoint(&[&first, &second, &third]);
    shares.sort_unstable();
    assert_eq!(shares, [5, 5, 6]);
    assert!(!second.elected.is_cancelled() && !third.elected.is_cancelled());

    first.shut_down().await;
    after(5).await;
    assert_eq!((second.count(), third.count()), (8, 8), "at once: the Lease was deleted");
    assert!(second.elected.is_cancelled() != third.elected.is_cancelled(), "one of them leads");
}

#[tokio::test(start_paused = true)]
async fn the_slots_of_a_dead_replica_are_free_when_its_lease_has_expired() {
    let server = Server::default();
    let (first, second) = (server.start("8"), server.start("8"));
    after(10).await;
    assert_eq!((first.count(), second.count()), (4, 4));
    first.kill();
    after(12).await;
    assert_eq!(second.count(), 4, "it may still reconcile");
    after(10).await;
    assert_eq!(second.count(), 8);
    let replicas = server.0.lock().unwrap().leases.keys().filter(|name| name.contains("-replica-")).count();
    assert_eq!(replicas, 1, "the Lease is deleted");
}

#[tokio::test(start_paused = true)]
async fn a_slot_is_released_after_its_last_reconcile() {
    let server = Server::default();
    let first = server.start("2");
    after(5).await;
    // The uid of an object in slot 1, which is the one to give away.
    let uids = (0..100).map(|number| number.to_string());
    let object = |uid: String| kube::api::ObjectMeta { uid: Some(uid), ..Default::default() };
    let of_slot_1 = |it: &kube::api::ObjectMeta| first.slots.by.slot(first.slots.count, it) == Some(1);
    let object = uids.map(object).find(of_slot_1).unwrap();
    let listed = first.slots.owned().generation;
    let running = first.slots.enter(&object, listed).unwrap();
    assert!(first.slots.enter(&object, 0).is_none(), "the slot was not listed");
    let second = server.start("2");
    after(60).await;
    assert_eq!((first.count(), second.count()), (1, 0), "a reconcile is running");
    assert!(first.slots.enter(&object, listed).is_none(), "no other begins");
    drop(running);
    after(5).await;
    assert_eq!(second.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_replica_whose_lease_was_deleted_ends() {
    let server = Server::default();
    let replica = server.start("2");
    after(5).await;
    server.set(|state| state.leases.retain(|name, _| !name.contains("-replica-")));
    let lost = replica.claim.await.unwrap();
    assert!(lost.contains("no longer the leader"), "{lost}");
    let object = kube::api::ObjectMeta { uid: Some("1".to_owned()), ..Default::default() };
    assert!(replica.slots.enter(&object, u64::MAX).is_none(), "its term is over");
}

#[tokio::test(start_paused = true)]
async fn replicas_with_another_number_of_slots_wait() {
    let server = Server::default();
    let (eight, four) = (server.start("8"), server.start("4"));
    after(60).await;
    let (first, second) = if eight.count() > 0 { (eight, four) } else { (four, eight) };
    assert_eq!(second.count(), 0);
    first.shut_down().await;
    after(5).await;
    assert_eq!(second.count(), usize::from(second.slots.count.get()));
}

#[tokio::test(start_paused = true)]
async fn more_replicas_than_slots_leave_some_idle() {
    let server = Server::default();
    let replicas: Vec<Replica> = (0..4).map(|_| server.start("2")).collect();
    after(60).await;
    let mut shares: Vec<usize> = replicas.iter().map(Replica::count).collect();
    shares.sort_unstable();
    assert_eq!(shares, [0, 0, 1, 1]);
}

#[tokio::test(start_paused = true)]
async fn renewals_do_not_depend_on_the_number_of_slots() {
    for slots in ["2", "256"] {
        let server = Server::default();
        let _replicas = [server.start(slots), server.start(slots)];
        after(60).await;
        let before = server.writes();
        after(600).await;
        // Two Leases for each replica, every 2 to 2.2 seconds.
        let writes = server.writes() - before;
        assert!((1000..=1250).contains(&writes), "{slots} slots: {writes}");
        assert!(server.holders().iter().all(|holder| !holder.is_empty()));
    }
}
