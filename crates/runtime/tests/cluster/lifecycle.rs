//! Finalizers, failures, several controllers of one kind, and controllers in plain kube-rs.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use kube::ResourceExt;
use kube::api::DeleteParams;
use kube::runtime::controller::Action;
use kube::runtime::{Controller as KubeController, watcher};
use opctl_runtime::controller::drive;
use opctl_runtime::{Context, Controller, Error, Outcome, Runnable, Runs};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::sleep;

use crate::cluster::{Cluster, Seen, eventually, logged, ok};
use crate::kinds::Web;

#[tokio::test(flavor = "multi_thread")]
async fn objects_that_are_deleted_at_once_leave_nothing_behind() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("at-once").await;
    let namespace = namespace.as_str();
    let reconcile = |_: Arc<Web>, _: Arc<Context>| async { ok(Outcome::ready("Done", "")) };
    let cleanup = |_: Arc<Web>, _: Arc<Context>| async { ok(()) };
    let runnable: Runnable = Controller::<Web>::new(reconcile).finalizer("runtime.example.com/test", cleanup).into();
    let operator = cluster.run(&["--watch-namespace", namespace], vec![runnable]);
    operator.ready().await;
    for index in 0..30 {
        let name = format!("web-{index}");
        cluster.create::<Web>(namespace, &name, json!({})).await;
        sleep(Duration::from_millis(index / 3)).await;
        cluster.raw::<Web>(namespace).delete(&name, &DeleteParams::default()).await.unwrap();
    }
    eventually("that all are gone", async || {
        let left = cluster.raw::<Web>(namespace).list(&Default::default()).await.unwrap().items;
        left.is_empty().then_some(()).ok_or(left)
    })
    .await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(logged(&["ERROR", &format!("{namespace}/")]), Vec::<String>::new());
    assert_eq!(operator.metric("controller_reconcile_failures_total", &[]).await, 0.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cleanup_that_fails_keeps_the_object_and_says_why() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("cleanup").await;
    let namespace = namespace.as_str();
    let works = Arc::new(AtomicBool::new(false));
    let switch = works.clone();
    let reconcile = |_: Arc<Web>, _: Arc<Context>| async { ok(Outcome::ready("Done", "")) };
    let cleanup = move |_: Arc<Web>, _: Arc<Context>| {
        let works = switch.load(Ordering::SeqCst);
        async move { if works { Ok(()) } else { Err(Error::new("BackupRunning", "the backup is still running")) } }
    };
    let runnable: Runnable = Controller::<Web>::new(reconcile).finalizer("runtime.example.com/test", cleanup).into();
    let _operator = cluster.run(&["--watch-namespace", namespace], vec![runnable]);
    cluster.create::<Web>(namespace, "web", json!({})).await;
    cluster.ready::<Web>(namespace, "web", "True", "Done").await;
    cluster.raw::<Web>(namespace).delete("web", &DeleteParams::default()).await.unwrap();
    cluster.ready::<Web>(namespace, "web", "False", "BackupRunning").await;
    works.store(true, Ordering::SeqCst);
    eventually("that it is gone", async || {
        let web = cluster.get::<Web>(namespace, "web").await;
        web.is_null().then_some(()).ok_or(web)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_changes_the_condition_and_is_tried_again_in_time() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("failure").await;
    let namespace = namespace.as_str();
    let attempts = Arc::new(AtomicU32::new(0));
    let counter = attempts.clone();
    let reconcile = move |object: Arc<Web>, _: Arc<Context>| {
        let attempt = counter.fetch_add(1, Ordering::SeqCst);
        async move {
            match object.spec.size {
                // A message that differs each time.
                Some(1) => Err(Error::new("OutOfQuota", format!("attempt {attempt}"))),
                Some(2) => panic!("a bug"),
                Some(3) => Err(Error::new("Impossible", "size 3").permanent()),
                _ => Ok(Outcome::ready("Done", "").status(json!({ "replicas": 7 }))),
            }
        }
    };
    let operator = cluster.run(&["--watch-namespace", namespace], vec![Controller::<Web>::new(reconcile).into()]);
    cluster.create::<Web>(namespace, "web", json!({})).await;
    cluster.ready::<Web>(namespace, "web", "True", "Done").await;
    cluster.patch::<Web>(namespace, "web", json!({ "spec": { "size": 1 } })).await;
    cluster.ready::<Web>(namespace, "web", "False", "OutOfQuota").await;
    let web = cluster.get::<Web>(namespace, "web").await;
    assert_eq!(
        (&web["status"]["replicas"], &web["status"]["observedGeneration"]),
        (&json!(7), &json!(2)),
        "the rest stays"
    );
    let owners: Vec<&Value> =
        web["metadata"]["managedFields"].as_array().unwrap().iter().map(|entry| &entry["manager"]).collect();
    assert!(owners.contains(&&json!("runtime-test/failure")) && owners.contains(&&json!("runtime-test")), "{owners:?}");
    let before = attempts.load(Ordering::SeqCst);
    sleep(Duration::from_secs(4)).await;
    let tries = attempts.load(Ordering::SeqCst) - before;
    assert!((1..=4).contains(&tries), "{tries} tries in 4 seconds");

    cluster.patch::<Web>(namespace, "web", json!({ "spec": { "size": 2 } })).await;
    cluster.ready::<Web>(namespace, "web", "False", "Panicked").await;
    cluster.patch::<Web>(namespace, "web", json!({ "spec": { "size": 3 } })).await;
    cluster.ready::<Web>(namespace, "web", "False", "Impossible").await;
    sleep(Duration::from_secs(1)).await;
    let before = attempts.load(Ordering::SeqCst);
    sleep(Duration::from_secs(4)).await;
    assert_eq!(attempts.load(Ordering::SeqCst), before, "until the object changes");
    cluster.patch::<Web>(namespace, "web", json!({ "spec": { "size": 4 } })).await;
    cluster.ready::<Web>(namespace, "web", "True", "Done").await;
    let events: Vec<(String, String)> =
        cluster.events(namespace, "web").await.into_iter().map(|(type_, reason, _)| (type_, reason)).collect();
    let expected = [
        ("Normal", "Done"),
        ("Warning", "OutOfQuota"),
        ("Warning", "Panicked"),
        ("Warning", "Impossible"),
        ("Normal", "Done"),
    ];
    assert_eq!(events, expected.map(|(type_, reason)| (type_.to_owned(), reason.to_owned())));
    operator.ready().await;
}

/// The operator does not reconcile after its own write of a status, but a change that someone else makes while it is
/// being sent must not be taken for it.
#[tokio::test(flavor = "multi_thread")]
async fn changes_during_writes_of_the_status_are_not_lost() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("meanwhile").await;
    let namespace = namespace.as_str();
    let reconciles = Arc::new(AtomicU32::new(0));
    let counter = reconciles.clone();
    let reconcile = move |object: Arc<Web>, _: Arc<Context>| {
        counter.fetch_add(1, Ordering::SeqCst);
        async move { ok(Outcome::ready("Done", "").status(json!({ "replicas": object.spec.size }))) }
    };
    let operator = cluster.run(&["--watch-namespace", namespace], vec![Controller::<Web>::new(reconcile).into()]);
    let names: Vec<String> = (0..10).map(|number| format!("web-{number}")).collect();
    for name in &names {
        cluster.create::<Web>(namespace, name, json!({})).await;
    }
    let change = async |name: &str| {
        for size in 1..=30 {
            cluster.patch::<Web>(namespace, name, json!({ "spec": { "size": size } })).await;
        }
    };
    join_all(names.iter().map(|name| change(name))).await;
    for name in &names {
        eventually(&format!("the last size of {name}"), async || {
            let web = cluster.get::<Web>(namespace, name).await;
            let status = &web["status"];
            let is_last = status["replicas"] == 30 && status["observedGeneration"] == web["metadata"]["generation"];
            is_last.then_some(()).ok_or(web)
        })
        .await;
    }
    operator.ready().await;
    sleep(Duration::from_secs(1)).await;
    // Each object was created, and changed 30 times.
    let reconciles = reconciles.load(Ordering::SeqCst);
    assert!(reconciles <= 31 * 10, "{reconciles} reconciles");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_changes_does_not_wait_for_all_objects_of_a_start() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("order").await;
    let namespace = namespace.as_str();
    let names: Vec<String> = (10..50).map(|number| format!("web-{number}")).collect();
    for name in &names {
        cluster.create::<Web>(namespace, name, json!({})).await;
    }
    let (order, gate) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Semaphore::new(0)));
    let reconcile = {
        let (order, gate) = (order.clone(), gate.clone());
        move |object: Arc<Web>, _: Arc<Context>| {
            order.lock().unwrap().push(object.name_any());
            let gate = gate.clone();
            async move {
                let _permit = gate.acquire().await;
                ok(Action::await_change())
            }
        }
    };
    let arguments = ["--watch-namespace", namespace, "--concurrency", "2"];
    let operator = cluster.run(&arguments, vec![Controller::<Web>::new(reconcile).into()]);
    let order = || order.lock().unwrap().clone();
    eventually("two reconciles", async || (order().len() == 2).then_some(()).ok_or_else(order)).await;
    cluster.patch::<Web>(namespace, "web-49", json!({ "spec": { "size": 1 } })).await;
    operator.ready().await;
    // The watch delivers the change.
    sleep(Duration::from_secs(2)).await;
    gate.add_permits(1);
    eventually("all reconciles", async || (order().len() == names.len()).then_some(()).ok_or_else(order)).await;
    let at = order().iter().position(|name| name == "web-49").unwrap();
    assert!(at < 6, "{:?}", order());
    sleep(Duration::from_secs(1)).await;
    assert_eq!(order().len(), names.len(), "each once: {:?}", order());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_controllers_of_a_kind_have_conditions_of_their_own() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("two").await;
    let namespace = namespace.as_str();
    let main = |object: Arc<Web>, _: Arc<Context>| async move {
        let outcome = Outcome::ready("Done", "");
        ok(match object.spec.size {
            Some(1) => outcome,
            _ => outcome.condition(opctl_runtime::conditions::condition(
                "Extra",
                opctl_runtime::conditions::Status::True,
                "Extra",
                "",
            )),
        })
    };
    let second = |object: Arc<Web>, _: Arc<Context>| async move {
        match object.spec.size {
            Some(2) => Err(Error::new("Unlucky", "size 2")),
            _ => Ok(Outcome::ready("Synced", "").status(json!({ "replicas": 9 }))),
        }
    };
    let second = Controller::<Web>::new(second).named("second").condition("Synced");
    let operator =
        cluster.run(&["--watch-namespace", namespace], vec![Controller::<Web>::new(main).into(), second.into()]);
    cluster.create::<Web>(namespace, "web", json!({})).await;
    let expect = async |expected: &[&str], replicas: u64| {
        eventually(&format!("{expected:?}"), async || {
            let web = cluster.get::<Web>(namespace, "web").await;
            let conditions = web["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let shown = |it: &Value| format!("{}={}", it["type"].as_str().unwrap(), it["status"].as_str().unwrap());
            let mut conditions: Vec<String> = conditions.iter().map(shown).collect();
            conditions.sort();
            let is_same = conditions == expected && web["status"]["replicas"] == replicas;
            (is_same && web["status"]["observedGeneration"] == web["metadata"]["generation"]).then_some(()).ok_or(web)
        })
        .await;
    };
    expect(&["Extra=True", "Ready=True", "Synced=True"], 9).await;
    cluster.patch::<Web>(namespace, "web", json!({ "spec": { "size": 1 } })).await;
    expect(&["Ready=True", "Synced=True"], 9).await;
    cluster.patch::<Web>(namespace, "web", json!({ "spec": { "size": 2 } })).await;
    expect(&["Extra=True", "Ready=True", "Synced=False"], 9).await;
    cluster.patch::<Web>(namespace, "web", json!({ "spec": { "size": 3 } })).await;
    expect(&["Extra=True", "Ready=True", "Synced=True"], 9).await;
    sleep(Duration::from_secs(1)).await;
    let before = operator.requests(&["resource=\"webs/status\""]);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(operator.requests(&["resource=\"webs/status\""]), before, "they do not fight");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_controller_in_plain_kube_runs_under_the_same_manager() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("plain").await;
    let namespace = namespace.as_str();
    let (seen, plain_seen) = (Seen::default(), Seen::default());
    let noted = seen.clone();
    let ours = move |object: Arc<Web>, _: Arc<Context>| {
        noted.note(&*object);
        async { ok(Action::await_change()) }
    };
    let noted = plain_seen.clone();
    let plain = Runnable::new("plain", Runs::PerNamespace, move |ctx| {
        let noted = noted.clone();
        let reconcile = move |object: Arc<Web>, _: Arc<Context>| {
            noted.note(&*object);
            async { ok(Action::await_change()) }
        };
        async move {
            let controller = KubeController::new(ctx.api::<Web>(), watcher::Config::default());
            drive("plain", controller, reconcile, ctx).await
        }
    });
    let operator = cluster.run(&["--watch-namespace", namespace], vec![Controller::<Web>::new(ours).into(), plain]);
    cluster.create::<Web>(namespace, "web", json!({})).await;
    operator.ready().await;
    eventually("both", async || {
        let counts = (seen.count("web"), plain_seen.count("web"));
        (counts == (1, 1)).then_some(()).ok_or(counts)
    })
    .await;
    for name in ["plain", "webs.runtime.example.com"] {
        let label = format!("controller=\"{name}\"");
        assert_eq!(operator.metric("controller_reconciles_total", &[&label, "success"]).await, 1.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconcile_that_hangs_panics_or_blocks_its_thread_is_seen() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("hangs").await;
    let namespace = namespace.as_str();
    let reconcile = |object: Arc<Web>, _: Arc<Context>| async move {
        match object.spec.size {
            Some(1) => std::future::pending().await,
            Some(2) => panic!("a bug"),
            Some(3) => std::thread::sleep(Duration::from_secs(6)),
            _ => {}
        }
        ok(Outcome::ready("Done", ""))
    };
    let cleanup = |_: Arc<Web>, _: Arc<Context>| std::future::pending::<Result<(), Error>>();
    let controller = Controller::<Web>::new(reconcile).finalizer("runtime.example.com/test", cleanup);
    let controller = controller.timeout(Duration::from_secs(3));
    let operator = cluster.run(&["--watch-namespace", namespace], vec![controller.into()]);
    operator.ready().await;
    cluster.create::<Web>(namespace, "web", json!({ "size": 1 })).await;
    eventually("a running reconcile", async || {
        let age = operator.metric("controller_longest_running_reconcile_seconds", &[]).await;
        (age > 1.0).then_some(()).ok_or(age)
    })
    .await;
    cluster.ready::<Web>(namespace, "web", "False", "TimedOut").await;
    eventually("another try", async || {
        let failures = operator.metric("controller_reconcile_failures_total", &["TimedOut"]).await;
        (failures >= 2.0).then_some(()).ok_or(failures)
    })
    .await;
    cluster.patch::<Web>(namespace, "web", json!({ "spec": { "size": 2 } })).await;
    cluster.ready::<Web>(namespace, "web", "False", "Panicked").await;
    assert!(operator.metric("controller_reconcile_failures_total", &["Panicked"]).await >= 1.0);
    cluster.patch::<Web>(namespace, "web", json!({ "spec": { "size": 3 } })).await;
    cluster.ready::<Web>(namespace, "web", "True", "Done").await;
    assert!(operator.metric("controller_reconcile_blocks_total", &[]).await >= 1.0);
    assert!(!logged(&["WARN", &format!("{namespace}/web"), "blocked its thread"]).is_empty());

    cluster.raw::<Web>(namespace).delete("web", &DeleteParams::default()).await.unwrap();
    cluster.ready::<Web>(namespace, "web", "False", "TimedOut").await;
}
