use std::sync::Arc;

use futures::channel::mpsc;
use futures::{FutureExt, StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::reflector;
use kube::runtime::watcher::Event;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::*;
use crate::controller::drive;
use crate::testing::{Call, Calls, api_server, options, status};
use crate::{Context, Result as Reconciled};

const OPERATOR: Operator = Operator { name: "test-operator", version: "0.0.0" };

/// Runs these runnables until one of them ends, with an API server that has only a Lease, held by `holder`.
async fn outcome(arguments: &[&str], holder: &'static str, runnables: Vec<Runnable>) -> (String, Calls) {
    let (client, calls) = api_server(move |call| answer(call, holder));
    let addresses = ["--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=0"];
    let arguments = arguments.iter().copied().chain(addresses);
    let error = Manager::new(OPERATOR).start(client, options(arguments), runnables).await.unwrap_err();
    (error.to_string(), calls)
}

fn answer(call: &Call, holder: &str) -> (u16, Value) {
    let mut lease = call.body.clone();
    match call.method.as_str() {
        "GET" if call.path == "/version" => {
            let version = json!({
                "major": "1", "minor": "37", "gitVersion": "v1.37.0", "gitCommit": "", "gitTreeState": "",
                "buildDate": "", "goVersion": "", "compiler": "", "platform": "",
            });
            return (200, version);
        }
        "GET" if holder == "refused" => return (403, status(403, "Forbidden")),
        "GET" => lease = json!({ "metadata": {}, "spec": { "holderIdentity": holder, "leaseDurationSeconds": 60 } }),
        _ => {}
    }
    lease["metadata"]["resourceVersion"] = "1".into();
    (200, lease)
}

fn part(name: &'static str, runs: Runs, run: Run) -> Runnable {
    Runnable::new(name, runs, run)
}

type Run = fn(Context) -> futures::future::BoxFuture<'static, Result<(), Error>>;

const STEADY: Run = |ctx| Box::pin(ctx.shutdown().map(Ok));
const ENDING: Run = |_| Box::pin(async { Ok(()) });
const STUCK: Run = |_| Box::pin(pending());

#[tokio::test]
async fn a_part_that_ends_stops_the_others() {
    let parts = vec![part("steady", Runs::Once, STEADY), part("ending", Runs::Once, ENDING)];
    let (error, _) = outcome(&[], "", parts).await;
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
    let (error, calls) = outcome(&["--leader-elect"], "another", parts).await;
    assert_eq!(error, "`server` ended before shutdown");
    assert!(calls.take().iter().all(|call| call.method == "GET"));
}

/// Runs in real time, since the Lease has its own thread.
#[tokio::test]
async fn the_lease_is_released_when_all_have_ended() {
    let parts = vec![part("stuck", Runs::Once, STUCK), part("ending", Runs::Once, ENDING)];
    let (error, calls) = outcome(&["--leader-elect", "--retry-period=1", "--grace-period=5"], "", parts).await;
    assert_eq!(error, "`ending` ended before shutdown", "the first reason");
    let calls = calls.take();
    let holders: Vec<_> = calls
        .iter()
        .filter(|call| call.method == "PUT")
        .map(|call| call.body["spec"]["holderIdentity"].as_str().unwrap())
        .collect();
    let (last, before) = holders.split_last().unwrap();
    assert_eq!(*last, "");
    assert!(before.len() > 1, "renewed through the grace period: {holders:?}");
    assert!(before.iter().all(|holder| !holder.is_empty()));
}

#[tokio::test]
async fn a_replica_that_cannot_read_its_lease_does_not_start() {
    let parts = vec![part("steady", Runs::Once, STEADY)];
    let (error, _) = outcome(&["--leader-elect"], "refused", parts).await;
    assert!(error.starts_with("missing permissions: "), "{error}");
}

#[tokio::test]
async fn names_are_unique() {
    let parts = vec![part("same", Runs::Once, STEADY), part("same", Runs::InEveryReplica, STEADY)];
    let (error, calls) = outcome(&[], "", parts).await;
    assert!(error.starts_with("two parts are named `same`"), "{error}");
    assert!(calls.is_empty());
}

#[tokio::test]
async fn a_part_that_panics_stops_the_others() {
    let panicking: Run = |_| Box::pin(async { panic!("at once") });
    let parts = vec![part("steady", Runs::Once, STEADY), part("panicking", Runs::Once, panicking)];
    let (error, _) = outcome(&[], "", parts).await;
    assert!(error.contains("panicked"), "{error}");
}

#[tokio::test]
async fn parts_run_once_for_each_namespace_or_once() {
    let (client, _) = api_server(|_| (500, Value::Null));
    let of = |arguments: &[&'static str]| Context::new(client.clone(), OPERATOR, options(arguments.iter().copied()));
    let namespaces = |ctx: &Context, runs| {
        let split = ctx.split(runs);
        split.iter().map(|ctx| ctx.namespace().map(str::to_owned)).collect::<Vec<_>>()
    };
    let (cluster, two) = (of(&[]), of(&["--watch-namespace=b, a,b"]));
    assert_eq!(namespaces(&cluster, Runs::PerNamespace), [None]);
    assert_eq!(namespaces(&two, Runs::PerNamespace), [Some("a".to_owned()), Some("b".to_owned())]);
    assert_eq!(namespaces(&two, Runs::Once), [None]);
    assert_eq!(namespaces(&of(&["--watch-namespace=a"]), Runs::Once), [Some("a".to_owned())]);
}

/// The start times of the first reconciles of a controller, in tenths of a second. Each takes a second.
async fn begins(reconciles: usize, objects: usize, arguments: &[&'static str]) -> Vec<u128> {
    let (client, _calls) = api_server(|_| (500, Value::Null));
    let options = options(arguments.iter().copied());
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
            Reconciled::Ok(ctx.requeue())
        }
    };
    tokio::select! {
        _ = drive("test", controller, reconcile, Context::new(client, OPERATOR, options)) => Vec::new(),
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
    // One reconcile and one interval, which is up to a tenth longer.
    assert!((610..=670).contains(&begins[1]), "{begins:?}");
}
