use std::sync::Arc;

use clap::Parser;
use futures::channel::mpsc;
use futures::{FutureExt, StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::Api;
use kube::runtime::controller::Action;
use kube::runtime::reflector;
use kube::runtime::watcher::Event;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::*;
use crate::mock::{self, Call, Calls};

/// Runs these parts until one of them ends, with an API server that has no more than a Lease, held by `holder`.
async fn outcome(holder: Option<&'static str>, runnables: Vec<Runnable>) -> (String, Calls) {
    let (client, calls) = mock::api_server(move |call| answer(call, holder));
    let mut arguments = vec!["manager", "--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=0"];
    if holder.is_some() {
        arguments.push("--leader-elect");
    }
    let options = Options::parse_from(arguments);
    let error = run(client, options, runnables).await.unwrap_err();
    (error.to_string(), calls)
}

fn answer(call: &Call, holder: Option<&str>) -> (u16, Value) {
    let mut lease = call.body.clone();
    match call.method.as_str() {
        "GET" if call.path == "/version" => {
            let version = json!({
                "major": "1", "minor": "37", "gitVersion": "v1.37.0", "gitCommit": "", "gitTreeState": "",
                "buildDate": "", "goVersion": "", "compiler": "", "platform": "",
            });
            return (200, version);
        }
        "GET" => lease = json!({ "metadata": {}, "spec": { "holderIdentity": holder, "leaseDurationSeconds": 60 } }),
        _ => {}
    }
    lease["metadata"]["resourceVersion"] = "1".into();
    (200, lease)
}

fn part(name: &'static str, runs: Runs, run: Run) -> Runnable {
    Runnable { name, runs, run }
}

type Run = fn(Context) -> futures::future::BoxFuture<'static, Result<(), Error>>;

const STEADY: Run = |ctx| Box::pin(ctx.shutdown().map(Ok));
const ENDING: Run = |_| Box::pin(async { Ok(()) });
const STUCK: Run = |_| Box::pin(pending());

#[tokio::test]
async fn a_part_that_ends_stops_the_others() {
    let parts = vec![part("steady", Runs::Once, STEADY), part("ending", Runs::Once, ENDING)];
    let (error, _) = outcome(None, parts).await;
    assert_eq!(error, "`ending` ended before shutdown");
}

#[tokio::test(start_paused = true)]
async fn only_servers_run_in_a_replica_that_does_not_lead() {
    let ending_later: Run = |_| {
        Box::pin(async {
            tokio::time::sleep(Duration::from_secs(30)).await;
            Ok(())
        })
    };
    let parts =
        vec![part("controller", Runs::PerNamespace, ENDING), part("server", Runs::InEveryReplica, ending_later)];
    let (error, calls) = outcome(Some("another"), parts).await;
    assert_eq!(error, "`server` ended before shutdown");
    assert!(calls.take().iter().all(|call| call.method == "GET"));
}

#[tokio::test(start_paused = true)]
async fn the_lease_is_released_when_all_have_ended() {
    let parts = vec![part("stuck", Runs::Once, STUCK), part("ending", Runs::Once, ENDING)];
    let (error, calls) = outcome(Some(""), parts).await;
    assert_eq!(error, "`ending` ended before shutdown", "the first reason");
    let calls = calls.take();
    let holders: Vec<_> = calls
        .iter()
        .filter(|call| call.method == "PUT")
        .map(|call| call.body["spec"]["holderIdentity"].as_str().unwrap())
        .collect();
    let (last, before) = holders.split_last().unwrap();
    assert_eq!(*last, "");
    // Renewed through the grace period of 20 seconds.
    assert!(before.len() > 8, "{holders:?}");
    assert!(before.iter().all(|holder| !holder.is_empty()));
}

impl Failure for Infallible {
    fn reason(&self) -> &'static str {
        match *self {}
    }
}

/// How a reconcile ends that cleans up an object, whose finalizer the API server takes off with this answer.
async fn lets_go(code: u16, reason: &'static str) -> Result<Action, kube::Error> {
    let (ctx, _calls) = mock::context(move |_| (code, mock::status(code, reason)));
    let api = Api::<ConfigMap>::namespaced(ctx.client.clone(), "default");
    let object = json!({ "metadata": {
        "name": "sample", "finalizers": ["example.com/a"], "deletionTimestamp": "2025-01-01T00:00:00Z",
    } });
    let object = serde_json::from_value::<ConfigMap>(object).unwrap();
    let cleanup = |_| async { Ok(Action::await_change()) };
    with_finalizer(&api, "example.com/a", object.into(), cleanup).await
}

impl Failure for kube::Error {
    fn reason(&self) -> &'static str {
        "RequestFailed"
    }
}

#[tokio::test]
async fn an_object_that_is_gone_already_needs_no_letting_go() {
    let done = Action::await_change();
    assert_eq!(lets_go(404, "NotFound").await.unwrap(), done);
    let again = Action::requeue(Duration::from_secs(1));
    assert_eq!(lets_go(422, "Invalid").await.unwrap(), again);
    assert!(lets_go(403, "Forbidden").await.is_err());
}

/// When the first reconciles of a controller begin, in tenths of a second; each of them takes a second.
async fn begins(reconciles: usize, objects: usize, arguments: &[&str]) -> Vec<u128> {
    let (client, _calls) = mock::api_server(|_| (500, Value::Null));
    let options = Options::parse_from([&["manager"], arguments].concat());
    let (store, mut writer) = reflector::store();
    let objects: Vec<ConfigMap> = (0..objects)
        .map(|number| {
            let mut object = ConfigMap::default();
            object.metadata.name = Some(number.to_string());
            object
        })
        .collect();
    writer.apply_watcher_event(&Event::Init);
    for object in &objects {
        writer.apply_watcher_event(&Event::InitApply(object.clone()));
    }
    writer.apply_watcher_event(&Event::InitDone);
    let seen = stream::iter(objects).map(Ok).chain(stream::pending());
    let controller = kube::runtime::Controller::for_stream(seen, store);
    let (begin, begun) = mpsc::unbounded();
    let start = Instant::now();
    let reconcile = |_: Arc<ConfigMap>, ctx: Arc<Context>| {
        let begin = begin.clone();
        async move {
            let _ = begin.unbounded_send(start.elapsed().as_millis() / 100);
            sleep(Duration::from_secs(1)).await;
            Ok::<_, Infallible>(ctx.requeue())
        }
    };
    tokio::select! {
        _ = drive("test", controller, reconcile, Context::new(client, options)) => Vec::new(),
        begun = begun.take(reconciles).collect() => begun,
    }
}

#[tokio::test(start_paused = true)]
async fn so_many_reconciles_run_at_the_same_time_as_concurrency_says() {
    assert_eq!(begins(4, 4, &[]).await, [0, 0, 0, 0]);
    assert_eq!(begins(4, 4, &["--concurrency=2"]).await, [0, 0, 10, 10]);
    assert_eq!(begins(4, 4, &["--concurrency=1"]).await, [0, 10, 20, 30]);
}

#[tokio::test(start_paused = true)]
async fn so_many_reconciles_start_in_a_second_as_rate_says() {
    assert_eq!(begins(5, 5, &["--rate=2"]).await, [0, 5, 10, 15, 20]);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_nobody_touches_is_reconciled_again() {
    let begins = begins(2, 1, &["--requeue-interval=60"]).await;
    // After the reconcile and the interval, which is up to a tenth longer.
    assert!((610..=670).contains(&begins[1]), "{begins:?}");
}
