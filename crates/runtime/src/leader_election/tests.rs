use std::sync::{Arc, Mutex};

use kube::api::ObjectMeta;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::Operator;
use crate::testing::{self, Call, status};

const OPERATOR: Operator = Operator { name: "sample-operator", version: "1.2.3" };

/// An API server with at most one Lease, which refuses writes with an outdated version.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    lease: Option<Value>,
    version: u32,
    /// Answers all requests with 500.
    fails: bool,
    /// Executes the next write, but loses the response.
    loses_an_answer: bool,
    /// Another replica with the same identity writes before each write of this one.
    is_shared: bool,
}

impl Server {
    fn answer(&self, call: &Call) -> (u16, Value) {
        let mut state = self.0.lock().unwrap();
        if state.fails {
            return (500, status(500, "InternalError"));
        }
        if state.is_shared && call.method == "PUT" {
            state.version += 1;
            let version = state.version.to_string();
            state.lease.as_mut().unwrap()["metadata"]["resourceVersion"] = version.into();
        }
        let seen = |lease: &Value| lease["metadata"]["resourceVersion"].clone();
        match call.method.as_str() {
            "POST" => assert_eq!(call.body["metadata"]["name"], "sample-operator"),
            _ => assert!(call.path.ends_with("/leases/sample-operator"), "{}", call.path),
        }
        match (call.method.as_str(), &state.lease) {
            ("GET", Some(lease)) => return (200, lease.clone()),
            ("POST", None) => {}
            ("PUT", Some(lease)) if seen(lease) == seen(&call.body) => {}
            ("GET" | "PUT", None) => return (404, status(404, "NotFound")),
            ("PUT", _) => return (409, status(409, "Conflict")),
            ("POST", _) => return (409, status(409, "AlreadyExists")),
            (method, _) => panic!("{method}"),
        }
        let mut lease = call.body.clone();
        state.version += 1;
        lease["metadata"]["resourceVersion"] = state.version.to_string().into();
        state.lease = Some(lease.clone());
        match std::mem::take(&mut state.loses_an_answer) {
            true => (500, status(500, "InternalError")),
            false => (200, lease),
        }
    }

    fn replica(&self, identity: &str) -> Election {
        let server = self.clone();
        let (client, _) = testing::api_server(move |call| server.answer(call));
        let ctx = Context::new(client.clone(), OPERATOR, testing::options(["--leader-elect"]));
        let mut election = Election::new(&client, &ctx, Term::default());
        election.identity = identity.to_owned();
        election
    }

    /// Writes like a replica whose clock is wrong.
    fn written_by(&self, holder: &str) {
        let mut state = self.0.lock().unwrap();
        state.version += 1;
        let spec = json!({
            "holderIdentity": holder, "leaseDurationSeconds": 20, "leaseTransitions": 3,
            "acquireTime": "1999-01-01T00:00:00.000000Z",
            "renewTime": format!("1999-01-01T00:00:00.{:06}Z", state.version),
        });
        let metadata = ObjectMeta {
            name: Some("sample-operator".to_owned()),
            resource_version: Some(state.version.to_string()),
            ..Default::default()
        };
        state.lease = Some(json!({ "metadata": metadata, "spec": spec }));
    }

    fn spec(&self) -> Value {
        self.0.lock().unwrap().lease.as_ref().unwrap()["spec"].clone()
    }

    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.lock().unwrap());
    }
}

/// A client whose requests get no response.
fn silent() -> Client {
    let service = tower::service_fn(|_: http::Request<Body>| pending::<Result<http::Response<Body>, kube::Error>>());
    Client::new(service, "default")
}

async fn after(seconds: u64) {
    sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn creates_a_lease_where_there_is_none_and_renews_it() {
    let server = Server::default();
    let mut replica = server.replica("a");
    replica.acquire().await.unwrap();
    let first = server.spec();
    assert_eq!(first["holderIdentity"], "a");
    assert_eq!(first["leaseTransitions"], 0);
    assert_eq!(first["acquireTime"], first["renewTime"]);
    tokio::select! {
        lost = replica.hold() => panic!("{lost}"),
        () = after(3600) => {}
    }
    let now = server.spec();
    assert_eq!(now["acquireTime"], first["acquireTime"]);
    assert_ne!(now["renewTime"], first["renewTime"]);
    let renewals = server.0.lock().unwrap().version;
    assert!((1600..=1800).contains(&renewals), "{renewals}");
}

#[tokio::test(start_paused = true)]
async fn takes_over_when_a_record_stays_the_same_for_its_duration_whatever_its_times() {
    let server = Server::default();
    let mut replica = server.replica("b");
    server.written_by("a");
    let acquired = tokio::spawn(async move {
        replica.acquire().await.unwrap();
        Instant::now()
    });
    for _ in 0..10 {
        after(19).await;
        server.written_by("a");
    }
    let last = Instant::now();
    let waited = acquired.await.unwrap() - last;
    let bounds = Duration::from_secs(20)..Duration::from_secs(25);
    assert!(bounds.contains(&waited), "{waited:?}");
    let spec = server.spec();
    assert_eq!(spec["holderIdentity"], "b");
    assert_eq!(spec["leaseDurationSeconds"], 15);
    assert_eq!(spec["leaseTransitions"], 4);
}

#[tokio::test(start_paused = true)]
async fn only_one_of_many_leads() {
    let server = Server::default();
    let replicas = ["a", "b", "c", "d"].map(|name| server.replica(name));
    let leaders = Arc::new(Mutex::new(0));
    for mut replica in replicas {
        let leaders = leaders.clone();
        tokio::spawn(async move {
            replica.acquire().await.unwrap();
            *leaders.lock().unwrap() += 1;
            replica.hold().await
        });
    }
    after(600).await;
    assert_eq!(*leaders.lock().unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn stops_leading_when_another_writes() {
    let server = Server::default();
    let mut replica = server.replica("a");
    replica.acquire().await.unwrap();
    server.written_by("b");
    let error = replica.hold().await.to_string();
    assert!(error.contains("held by `b`"), "{error}");
    replica.release().await;
    assert_eq!(server.spec()["holderIdentity"], "b", "another replica's Lease must not be released");
}

#[tokio::test(start_paused = true)]
async fn gives_up_before_another_may_lead_when_it_cannot_renew() {
    for hanging in [true, false] {
        let server = Server::default();
        let mut replica = server.replica("a");
        let start = Instant::now();
        replica.acquire().await.unwrap();
        match hanging {
            true => replica.api = Api::default_namespaced(silent()),
            false => server.set(|state| state.fails = true),
        }
        let error = replica.hold().await.to_string();
        assert!(error.contains("no renewal in 10 seconds"), "{error}");
        assert_eq!(start.elapsed().as_secs(), 10, "the Lease is for 15 seconds");
    }
}

#[tokio::test(start_paused = true)]
async fn keeps_leading_when_the_api_server_is_away_for_a_moment_or_an_answer_is_lost() {
    let server = Server::default();
    let mut replica = server.replica("a");
    replica.acquire().await.unwrap();
    let trouble = async {
        for _ in 0..20 {
            server.set(|state| state.fails = true);
            after(3).await;
            server.set(|state| (state.fails, state.loses_an_answer) = (false, true));
            after(10).await;
        }
    };
    tokio::select! {
        lost = replica.hold() => panic!("{lost}"),
        () = trouble => {}
    }
}

#[tokio::test(start_paused = true)]
async fn replicas_that_hold_a_lease_together_do_not_starve_each_other() {
    let server = Server::default();
    let mut replica = server.replica("a");
    replica.acquire().await.unwrap();
    server.set(|state| state.is_shared = true);
    tokio::select! {
        lost = replica.hold() => panic!("{lost}"),
        () = after(60) => {}
    }
    server.set(|state| (state.is_shared, state.fails) = (false, true));
    let start = Instant::now();
    replica.hold().await;
    let waited = start.elapsed().as_secs();
    assert!((5..=10).contains(&waited), "its own last observation counts: {waited}");
}

#[tokio::test(start_paused = true)]
async fn lets_another_lead_at_once_when_released() {
    let server = Server::default();
    let (mut replica, mut other) = (server.replica("a"), server.replica("b"));
    replica.acquire().await.unwrap();
    // The replica did not get the response to its last renewal.
    server.set(|state| state.loses_an_answer = true);
    assert!(replica.claim().await.is_err());
    replica.release().await;
    let spec = server.spec();
    assert_eq!(spec["holderIdentity"], "");
    assert_eq!(spec["leaseDurationSeconds"], 1);
    let start = Instant::now();
    other.acquire().await.unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(server.spec()["leaseTransitions"], 1);
}

#[tokio::test(start_paused = true)]
async fn the_first_request_must_succeed() {
    let server = Server::default();
    server.set(|state| state.fails = true);
    assert!(server.replica("a").acquire().await.is_err());
}

#[test]
fn refuses_a_deadline_that_leaves_no_time() {
    for times in [["--renew-deadline=15", "--retry-period=2"], ["--renew-deadline=10", "--retry-period=6"]] {
        assert!(testing::options(times).leader_election.validate().is_err(), "{times:?}");
    }
}

/// A service that responds after some seconds, in two steps, and its client, whose writes are guarded by the term.
fn guarded(term: &Term, seconds: u64) -> Client {
    let service = tower::service_fn(move |_: http::Request<Body>| async move {
        after(seconds).await;
        Ok::<_, kube::Error>(http::Response::new(Body::from(b"{}".to_vec())))
    });
    term.guard(Client::new(service, "default"))
}

async fn sent(client: &Client, method: &str, upgrade: bool) -> Result<(), String> {
    let mut request = http::Request::builder().method(method).uri("/api/v1/pods").body(Body::empty()).unwrap();
    if upgrade {
        request.headers_mut().insert("upgrade", "websocket".parse().unwrap());
    }
    client.send(request).await.map(drop).map_err(|error| brief(&error))
}

#[tokio::test(start_paused = true)]
async fn writes_are_refused_from_the_end_of_the_term_on() {
    let term = Term::default();
    let client = guarded(&term, 0);
    let writes = [("POST", false), ("PUT", false), ("PATCH", false), ("DELETE", false), ("GET", true)];
    let refused = async || {
        let mut refused = 0;
        for (method, upgrade) in writes {
            if let Err(error) = sent(&client, method, upgrade).await {
                assert_eq!(error, format!("{method} /api/v1/pods failed: this replica is no longer the leader"));
                refused += 1;
            }
        }
        assert_eq!(sent(&client, "GET", false).await, Ok(()));
        refused
    };
    assert_eq!(refused().await, 0, "a server of a replica that does not lead");
    term.extend(Moment::now() + Duration::from_secs(10));
    assert_eq!(refused().await, 0);
    after(11).await;
    assert_eq!(refused().await, writes.len());
    term.extend(Moment::now() + Duration::from_secs(10));
    assert_eq!(refused().await, 0);
    term.end();
    assert_eq!(refused().await, writes.len());
}

#[tokio::test(start_paused = true)]
async fn a_write_goes_no_further_after_the_end_of_the_term() {
    let term = Term::default();
    term.extend(Moment::now() + Duration::from_secs(10));
    let client = guarded(&term, 60);
    let (write, read) = tokio::join!(sent(&client, "PUT", false), sent(&client, "GET", false));
    assert!(write.unwrap_err().contains("no longer the leader"));
    assert_eq!(read, Ok(()));
}

#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_term_ends_while_the_machine_is_suspended() {
    let term = Term::default();
    term.extend(Moment::now() + Duration::from_secs(10));
    assert!(!term.is_over());
    // Only the clock since boot has advanced.
    let awake = Moment::now().awake + Duration::from_secs(10);
    term.extend(Moment { awake, ..Moment::now() });
    assert!(term.is_over());
}

#[tokio::test(start_paused = true)]
async fn the_term_ends_before_another_may_lead_and_with_the_leadership() {
    let server = Server::default();
    let mut replica = server.replica("a");
    let client = guarded(&replica.term, 0);
    replica.acquire().await.unwrap();
    tokio::select! {
        lost = replica.hold() => panic!("{lost}"),
        () = after(60) => assert_eq!(sent(&client, "PUT", false).await, Ok(()), "it is renewed"),
    }
    // Simulates a stopped process, without renewals.
    after(10).await;
    assert!(sent(&client, "PUT", false).await.is_err());

    let mut replica = server.replica("a");
    let client = guarded(&replica.term, 0);
    replica.acquire().await.unwrap();
    server.written_by("b");
    replica.hold().await;
    assert!(sent(&client, "PUT", false).await.is_err(), "the Lease is another replica's");

    server.written_by("");
    let mut replica = server.replica("a");
    let client = guarded(&replica.term, 0);
    replica.acquire().await.unwrap();
    replica.release().await;
    assert!(sent(&client, "PUT", false).await.is_err(), "the Lease is released");
}
