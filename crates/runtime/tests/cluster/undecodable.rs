//! An object that cannot be decoded into its Rust type does not stop the others.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::runtime::controller::Action;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::watcher;
use kube::{Api, ResourceExt};
use opctl_runtime::{Children, Context, Controller, Outcome, Runnable};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::cluster::{Cluster, Running, Seen, eventually, logged, ok, start};
use crate::kinds::{Bare, Part, PartSpec, Web};
use crate::proxy::{Mode, Proxy};

const BAD: u64 = 5_000_000_000;

/// Reports each Web as done.
fn controller(seen: &Seen) -> Controller<Web> {
    let seen = seen.clone();
    Controller::<Web>::new(move |object: Arc<Web>, _: Arc<Context>| {
        seen.note(&*object);
        async { ok(Outcome::ready("Done", "")) }
    })
}

/// Waits until this number of objects is undecodable.
async fn undecodable(operator: &Running, number: f64) {
    eventually("the number of undecodable objects", async || {
        let is = operator.metric("controller_undecodable_objects", &[]).await;
        (is == number).then_some(()).ok_or(is)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_left_out_until_they_fit() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("undecodable").await;
    let namespace = namespace.as_str();
    // Created before the start, so in the first list.
    cluster.create::<Web>(namespace, "good", json!({ "size": 1 })).await;
    cluster.create::<Web>(namespace, "bad", json!({ "size": BAD })).await;
    let seen = Seen::default();
    let operator = cluster.run(&["--watch-namespace", namespace], vec![controller(&seen).into()]);
    operator.ready().await;
    cluster.ready::<Web>(namespace, "good", "True", "Done").await;
    cluster.ready::<Web>(namespace, "bad", "False", "Undecodable").await;
    let note = "cannot be decoded: spec.size: invalid value: integer `5000000000`, expected u32";
    let condition = cluster.condition::<Web>(namespace, "bad", "Ready").await;
    assert_eq!((&condition["message"], &condition["observedGeneration"]), (&json!(note), &json!(1)));
    assert_eq!(cluster.get::<Web>(namespace, "bad").await["status"]["observedGeneration"], 1);
    let warning = ("Warning".to_owned(), "Undecodable".to_owned(), note.to_owned());
    eventually("the event", async || {
        let events = cluster.events(namespace, "bad").await;
        (events == [warning.clone()]).then_some(()).ok_or(events)
    })
    .await;
    let line = logged(&[&format!("Web {namespace}/bad"), "spec.size: invalid value: integer `5000000000`"]);
    assert_eq!(line.len(), 1, "{line:?}");
    assert!(line[0].contains("WARN") && line[0].contains("webs.runtime.example.com"), "{line:?}");
    undecodable(&operator, 1.0).await;
    let failures = operator.metric("controller_decode_failures_total", &[r#"kind="Web""#]).await;
    assert!(failures >= 1.0, "{failures}");

    // Created while the operator runs, and changed to undecodable and back.
    cluster.create::<Web>(namespace, "worse", json!({ "size": BAD + 1 })).await;
    cluster.patch::<Web>(namespace, "good", json!({ "spec": { "size": BAD } })).await;
    for name in ["worse", "good"] {
        cluster.ready::<Web>(namespace, name, "False", "Undecodable").await;
    }
    undecodable(&operator, 3.0).await;
    cluster.create::<Web>(namespace, "other", json!({})).await;
    cluster.ready::<Web>(namespace, "other", "True", "Done").await;
    for (name, size) in [("good", 2), ("bad", 3)] {
        cluster.patch::<Web>(namespace, name, json!({ "spec": { "size": size } })).await;
        cluster.ready::<Web>(namespace, name, "True", "Done").await;
    }
    assert!(operator.is_ready().await);
    // Deleted while undecodable.
    cluster.raw::<Web>(namespace).delete("worse", &DeleteParams::default()).await.unwrap();
    undecodable(&operator, 0.0).await;
    let ready = async |status: &str| operator.metric("controller_objects", &[&format!("ready=\"{status}\"")]).await;
    assert_eq!([ready("True").await, ready("False").await, ready("Unknown").await], [3.0, 0.0, 0.0]);
    assert_eq!(seen.count("worse"), 0);

    // Two patches each for `good` and `bad`, one each for `worse` and `other`; none for changes of the operator itself.
    let status = ["verb=\"patch\"", "resource=\"webs/status\""];
    let before = operator.requests(&status);
    sleep(Duration::from_secs(3)).await;
    assert_eq!(operator.requests(&status), before, "{:?}", operator.all_requests());
    assert!(before <= 8, "{:?}", operator.all_requests());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_made_again_finds_what_has_changed() {
    let Some(cluster) = Cluster::shared().await else { return };
    for config in [
        watcher::Config::default(),
        watcher::Config::default().streaming_lists(),
        watcher::Config::default().page_size(2),
    ] {
        let namespace = cluster.namespace("relist").await;
        let namespace = namespace.as_str();
        let proxy = Proxy::start(&cluster).await;
        let seen = Seen::default();
        for (name, size) in
            [("turns-bad", 1), ("turns-good", BAD), ("stays-bad", BAD), ("is-deleted", BAD), ("stays-good", 1)]
        {
            cluster.create::<Web>(namespace, name, json!({ "size": size })).await;
        }
        let runnable = controller(&seen).config(config).into();
        let operator = Running::start(proxy.config.clone(), &["--watch-namespace", namespace], vec![runnable]);
        operator.ready().await;
        undecodable(&operator, 3.0).await;
        for name in ["turns-bad", "stays-good"] {
            cluster.ready::<Web>(namespace, name, "True", "Done").await;
        }
        proxy.set(Mode::Refuse(500, None));
        cluster.patch::<Web>(namespace, "turns-bad", json!({ "spec": { "size": BAD } })).await;
        cluster.patch::<Web>(namespace, "turns-good", json!({ "spec": { "size": 7 } })).await;
        cluster.raw::<Web>(namespace).delete("is-deleted", &DeleteParams::default()).await.unwrap();
        proxy.take();
        proxy.set(Mode::Expired);
        eventually("a list", async || {
            let requests = proxy.take();
            let path = format!("/namespaces/{namespace}/webs");
            requests.iter().any(|it| it.ends_with(&path)).then_some(()).ok_or(requests)
        })
        .await;
        proxy.set(Mode::Pass);
        cluster.ready::<Web>(namespace, "turns-good", "True", "Done").await;
        cluster.ready::<Web>(namespace, "turns-bad", "False", "Undecodable").await;
        undecodable(&operator, 2.0).await;
        cluster.patch::<Web>(namespace, "stays-good", json!({ "spec": { "size": 2 } })).await;
        eventually("another reconcile", async || (seen.count("stays-good") > 1).then_some(()).ok_or(())).await;
        assert_eq!(logged(&[&format!("Web {namespace}/stays-bad"), "WARN"]).len(), 1, "it is named once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn they_are_left_out_when_the_api_server_restarts() {
    let Some((mut environment, _folder)) = start("restart") else { return };
    let cluster = Cluster::of(&environment).await;
    cluster.install().await;
    let namespace = "default";
    cluster.create::<Web>(namespace, "good", json!({})).await;
    cluster.create::<Web>(namespace, "bad", json!({ "size": BAD })).await;
    let seen = Seen::default();
    let operator = cluster.run(&[], vec![controller(&seen).into()]);
    operator.ready().await;
    cluster.ready::<Web>(namespace, "bad", "False", "Undecodable").await;
    assert!(environment.kill("kube-apiserver"));
    sleep(Duration::from_secs(2)).await;
    environment.restart("kube-apiserver").unwrap();
    eventually("the API server", async || cluster.client.apiserver_version().await).await;
    eventually("a change of an object", async || {
        let patch = Patch::Merge(json!({ "spec": { "size": 2 } }));
        cluster.raw::<Web>(namespace).patch("bad", &PatchParams::default(), &patch).await
    })
    .await;
    cluster.ready::<Web>(namespace, "bad", "True", "Done").await;
    cluster.patch::<Web>(namespace, "good", json!({ "spec": { "size": BAD } })).await;
    cluster.ready::<Web>(namespace, "good", "False", "Undecodable").await;
    assert!(operator.is_ready().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn owned_objects_may_have_any_shape() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("owned").await;
    let namespace = namespace.as_str();
    let reconcile = |object: Arc<Web>, ctx: Arc<Context>| async move {
        let mut children = Children::of(&*object, &ctx);
        let mut part = Part::new(&object.name_any(), PartSpec::default());
        part.spec.note = Some("applied".to_owned());
        children.apply(part).await?;
        ok(children.outcome())
    };
    let runnable = Controller::<Web>::new(reconcile).owns::<Part>().into();
    let operator = cluster.run(&["--watch-namespace", namespace], vec![runnable]);
    for name in ["one", "two"] {
        cluster.create::<Web>(namespace, name, json!({})).await;
        cluster.ready::<Web>(namespace, name, "True", "Available").await;
    }
    cluster.patch::<Part>(namespace, "one", json!({ "spec": { "size": BAD, "note": "drifted" } })).await;
    // Its applied fields are repaired, and its owner reports the problem with the others.
    cluster.ready::<Web>(namespace, "one", "False", "Undecodable").await;
    let message = cluster.condition::<Web>(namespace, "one", "Ready").await["message"].clone();
    assert_eq!(message, "Part one cannot be decoded: spec.size: invalid value: integer `5000000000`, expected u32");
    assert_eq!(cluster.get::<Part>(namespace, "one").await["spec"]["note"], "applied");
    cluster.patch::<Part>(namespace, "two", json!({ "spec": { "note": "drifted" } })).await;
    eventually("the repair of another one", async || {
        let part = cluster.get::<Part>(namespace, "two").await;
        (part["spec"]["note"] == "applied").then_some(()).ok_or(part)
    })
    .await;
    cluster.patch::<Part>(namespace, "one", json!({ "spec": { "size": 1 } })).await;
    cluster.ready::<Web>(namespace, "one", "True", "Available").await;
    assert!(operator.is_ready().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn watched_objects_are_left_out_too() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("watched").await;
    let namespace = namespace.as_str();
    let seen = Seen::default();
    let related = |part: Part| Some(ObjectRef::<Web>::new(part.spec.note.as_deref()?).within(&part.namespace()?));
    cluster.create::<Part>(namespace, "bad", json!({ "size": BAD, "note": "web" })).await;
    let operator =
        cluster.run(&["--watch-namespace", namespace], vec![controller(&seen).watches::<Part, _>(related).into()]);
    cluster.create::<Web>(namespace, "web", json!({})).await;
    cluster.ready::<Web>(namespace, "web", "True", "Done").await;
    operator.ready().await;
    let events = eventually("the event", async || {
        let events = cluster.events(namespace, "bad").await;
        if events.is_empty() { Err(()) } else { Ok(events) }
    })
    .await;
    assert_eq!(events[0].1, "Undecodable");
    assert_eq!(logged(&[&format!("Part {namespace}/bad"), "WARN"]).len(), 1);
    assert_eq!(cluster.get::<Part>(namespace, "bad").await.get("status"), None, "another controller owns its status");
    for (name, size) in [("good", 1), ("bad", 2)] {
        let before = seen.count("web");
        match name {
            "good" => cluster.create::<Part>(namespace, name, json!({ "size": size, "note": "web" })).await,
            _ => cluster.patch::<Part>(namespace, name, json!({ "spec": { "size": size } })).await,
        }
        eventually("a reconcile", async || (seen.count("web") > before).then_some(()).ok_or(())).await;
    }
    undecodable(&operator, 0.0).await;
    assert_eq!(operator.requests(&["resource=\"parts/status\""]), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_controller_that_returns_an_action_never_writes_a_status() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("action").await;
    let namespace = namespace.as_str();
    let seen = Seen::default();
    let noted = seen.clone();
    let reconcile = move |object: Arc<Web>, _: Arc<Context>| {
        noted.note(&*object);
        async { ok(Action::await_change()) }
    };
    cluster.create::<Web>(namespace, "good", json!({})).await;
    cluster.create::<Web>(namespace, "bad", json!({ "size": BAD })).await;
    let operator = cluster.run(&["--watch-namespace", namespace], vec![Controller::<Web>::new(reconcile).into()]);
    operator.ready().await;
    eventually("the event", async || {
        let events = cluster.events(namespace, "bad").await;
        (events.len() == 1 && seen.count("good") == 1).then_some(()).ok_or(events)
    })
    .await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(operator.requests(&["verb=\"patch\""]), 0, "{:?}", operator.all_requests());
    assert_eq!(cluster.get::<Web>(namespace, "bad").await.get("status"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_that_does_not_fit_is_reported_and_repaired_by_others() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("status").await;
    let namespace = namespace.as_str();
    let seen = Seen::default();
    let operator = cluster.run(&["--watch-namespace", namespace], vec![controller(&seen).into()]);
    cluster.create::<Web>(namespace, "web", json!({})).await;
    cluster.ready::<Web>(namespace, "web", "True", "Done").await;
    let api = cluster.raw::<Web>(namespace);
    let replicas = |number: Value| Patch::Merge(json!({ "status": { "replicas": number } }));
    api.patch_status("web", &PatchParams::default(), &replicas(json!(BAD))).await.unwrap();
    cluster.ready::<Web>(namespace, "web", "False", "Undecodable").await;
    let message = cluster.condition::<Web>(namespace, "web", "Ready").await["message"].clone();
    assert!(message.as_str().unwrap().contains("status.replicas: "), "{message}");
    let before = operator.requests(&[]);
    sleep(Duration::from_secs(2)).await;
    assert!(operator.requests(&[]) <= before + 2, "{:?}", operator.all_requests());
    api.patch_status("web", &PatchParams::default(), &replicas(Value::Null)).await.unwrap();
    cluster.ready::<Web>(namespace, "web", "True", "Done").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_with_a_finalizer_stays_until_it_can_be_cleaned_up() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("finalizer").await;
    let namespace = namespace.as_str();
    let (seen, cleaned) = (Seen::default(), Seen::default());
    let noted = cleaned.clone();
    let cleanup = move |object: Arc<Web>, _: Arc<Context>| {
        noted.note(&*object);
        async { ok(()) }
    };
    let runnable: Runnable = controller(&seen).finalizer("runtime.example.com/test", cleanup).into();
    let operator = cluster.run(&["--watch-namespace", namespace], vec![runnable]);
    cluster.create::<Web>(namespace, "web", json!({})).await;
    cluster.ready::<Web>(namespace, "web", "True", "Done").await;
    cluster.patch::<Web>(namespace, "web", json!({ "spec": { "size": BAD } })).await;
    cluster.ready::<Web>(namespace, "web", "False", "Undecodable").await;
    cluster.raw::<Web>(namespace).delete("web", &DeleteParams::default()).await.unwrap();
    eventually("that it is stuck", async || {
        let message = cluster.condition::<Web>(namespace, "web", "Ready").await["message"].clone();
        let names_it = message.as_str().unwrap_or_default().contains("removes the finalizer runtime.example.com/test");
        names_it.then_some(()).ok_or(message)
    })
    .await;
    assert_eq!(cleaned.count("web"), 0);
    cluster.patch::<Web>(namespace, "web", json!({ "spec": { "size": 1 } })).await;
    eventually("that it is gone", async || {
        let web = cluster.get::<Web>(namespace, "web").await;
        web.is_null().then_some(()).ok_or(web)
    })
    .await;
    assert_eq!(cleaned.count("web"), 1);
    assert!(operator.is_ready().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_without_an_observed_generation_gets_the_condition() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("bare").await;
    let namespace = namespace.as_str();
    let reconcile = |_: Arc<Bare>, _: Arc<Context>| async { ok(Outcome::ready("Done", "")) };
    let operator = cluster.run(&["--watch-namespace", namespace], vec![Controller::<Bare>::new(reconcile).into()]);
    cluster.create::<Bare>(namespace, "bad", json!({ "size": BAD })).await;
    cluster.create::<Bare>(namespace, "good", json!({ "size": 1 })).await;
    cluster.ready::<Bare>(namespace, "good", "True", "Done").await;
    cluster.ready::<Bare>(namespace, "bad", "False", "Undecodable").await;
    assert!(operator.requests(&["resource=\"bares/status\""]) <= 3, "{:?}", operator.all_requests());
}

/// Objects that Kubernetes accepts, but a decoder for JSON or for metadata does not.
#[tokio::test(flavor = "multi_thread")]
async fn odd_metadata_and_deep_nesting_stop_nobody() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("odd").await;
    let namespace = namespace.as_str();
    let deep = (0..200).fold(json!({}), |inner, _| json!({ "a": inner }));
    cluster.create::<Web>(namespace, "deep", json!({ "any": deep })).await;
    // In UTC, this is a year of five digits, and stored as such.
    let managed = json!([{
        "manager": "odd", "operation": "Apply", "apiVersion": "v1", "time": "9999-12-31T23:59:59-10:00",
        "fieldsType": "FieldsV1", "fieldsV1": { "f:metadata": { "f:labels": {} } },
    }]);
    let metadata = json!({ "name": "odd", "managedFields": managed });
    cluster.create_as_is::<ConfigMap>(namespace, json!({ "metadata": metadata, "data": { "a": "b" } })).await;
    let maps = Api::<ConfigMap>::namespaced(cluster.client.clone(), namespace);
    let refused = maps.list(&ListParams::default()).await.unwrap_err();
    assert!(matches!(refused, kube::Error::SerdeError(_)), "this test needs metadata that do not fit: {refused}");
    let (seen, maps_seen) = (Seen::default(), Seen::default());
    let noted = maps_seen.clone();
    let related = move |map: ConfigMap| {
        noted.note(&map);
        Vec::<ObjectRef<Web>>::new()
    };
    let runnable: Runnable = controller(&seen).owns::<ConfigMap>().watches::<ConfigMap, _>(related).into();
    let operator = cluster.run(&["--watch-namespace", namespace], vec![runnable]);
    operator.ready().await;
    cluster.create::<Web>(namespace, "good", json!({})).await;
    cluster.ready::<Web>(namespace, "good", "True", "Done").await;
    eventually("the log", async || {
        let deep = logged(&[&format!("Web {namespace}/deep"), "spec.any.a.a", "recursion limit"]).len();
        ((deep, maps_seen.count("odd")) == (1, 1)).then_some(()).ok_or(logged(&[namespace]))
    })
    .await;
    assert!(logged(&["WARN", &format!("{namespace}/odd")]).is_empty());
}
