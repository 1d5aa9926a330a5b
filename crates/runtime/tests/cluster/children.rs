//! The children of objects: apply, repair, prune, readiness.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use opctl_runtime::{Children, Context, Controller, Outcome, Result, Runnable, child_name};
use serde_json::json;
use tokio::time::sleep;

use crate::cluster::{Cluster, Running, eventually, ok};
use crate::kinds::{Site, SiteSpec, Web};
use crate::proxy::{Mode, Proxy};

fn map(name: &str, value: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.to_owned());
    map.data = Some([("value".to_owned(), value.to_owned())].into());
    map
}

/// Keeps a ConfigMap for each of `copies`, and prunes others.
async fn copies(object: Arc<Web>, ctx: Arc<Context>) -> Result<Outcome> {
    let mut children = Children::of(&*object, &ctx);
    for name in &object.spec.copies {
        children.apply(map(&child_name(&*object, name), "applied")).await?;
    }
    children.prune::<ConfigMap>().await?;
    Ok(children.outcome())
}

/// Keeps a ConfigMap named `<name>-second`, and prunes others.
async fn second(object: Arc<Web>, ctx: Arc<Context>) -> Result<Outcome> {
    let mut children = Children::of(&*object, &ctx);
    children.apply(map(&child_name(&*object, "second"), "second")).await?;
    children.prune::<ConfigMap>().await?;
    Ok(children.outcome())
}

fn both() -> Vec<Runnable> {
    let second = Controller::<Web>::new(second).named("second").condition("Second").owns::<ConfigMap>();
    vec![Controller::<Web>::new(copies).owns::<ConfigMap>().into(), second.into()]
}

/// Waits until a namespace contains exactly these ConfigMaps.
async fn maps(cluster: &Cluster, namespace: &str, expected: &[&str]) {
    eventually(&format!("the ConfigMaps {expected:?}"), async || {
        let mut names = cluster.names::<ConfigMap>(namespace).await;
        names.retain(|name| name != "kube-root-ca.crt");
        (names == expected).then_some(()).ok_or(names)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_children_that_are_no_longer_wanted_are_deleted() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("prune").await;
    let namespace = namespace.as_str();
    let operator = cluster.run(&["--watch-namespace", namespace], both());
    cluster.create::<Web>(namespace, "web", json!({ "copies": ["a", "b", "c"] })).await;
    maps(&cluster, namespace, &["web-a", "web-b", "web-c", "web-second"]).await;
    // Created manually, with the same owner.
    let owner = cluster.get::<ConfigMap>(namespace, "web-a").await["metadata"]["ownerReferences"].clone();
    assert_eq!(
        (&owner[0]["kind"], &owner[0]["name"], &owner[0]["controller"]),
        (&json!("Web"), &json!("web"), &json!(true))
    );
    let mut unapplied = map("by-hand", "");
    unapplied.metadata.owner_references = serde_json::from_value(owner).unwrap();
    let api = kube::Api::<ConfigMap>::namespaced(cluster.client.clone(), namespace);
    api.create(&PostParams::default(), &unapplied).await.unwrap();
    api.create(&PostParams::default(), &map("unrelated", "")).await.unwrap();

    cluster.patch::<Web>(namespace, "web", json!({ "spec": { "copies": ["a", "b"] } })).await;
    maps(&cluster, namespace, &["by-hand", "unrelated", "web-a", "web-b", "web-second"]).await;
    for type_ in ["Ready", "Second"] {
        eventually(type_, async || {
            let condition = cluster.condition::<Web>(namespace, "web", type_).await;
            (condition["status"] == "True").then_some(()).ok_or(condition)
        })
        .await;
    }

    // Children that an operator applied before a restart are pruned too, at once.
    drop(operator);
    cluster.patch::<Web>(namespace, "web", json!({ "spec": { "copies": ["a"] } })).await;
    let operator = cluster.run(&["--watch-namespace", namespace], both());
    maps(&cluster, namespace, &["by-hand", "unrelated", "web-a", "web-second"]).await;
    cluster.patch::<Web>(namespace, "web", json!({ "spec": { "copies": [] } })).await;
    maps(&cluster, namespace, &["by-hand", "unrelated", "web-second"]).await;
    sleep(Duration::from_secs(1)).await;
    maps(&cluster, namespace, &["by-hand", "unrelated", "web-second"]).await;
    assert_eq!(operator.requests(&["verb=\"delete\""]), 2, "{:?}", operator.all_requests());

    // Kubernetes deletes all of them with their owner.
    cluster.raw::<Web>(namespace).delete("web", &DeleteParams::default()).await.unwrap();
    maps(&cluster, namespace, &["unrelated"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn children_that_others_change_are_repaired() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("drift").await;
    let namespace = namespace.as_str();
    let operator = cluster.run(&["--watch-namespace", namespace], both());
    cluster.create::<Web>(namespace, "web", json!({ "copies": ["a"] })).await;
    maps(&cluster, namespace, &["web-a", "web-second"]).await;
    let label =
        json!({ "metadata": { "labels": { "mine": "kept" } }, "data": { "value": "drifted", "other": "kept" } });
    cluster.patch::<ConfigMap>(namespace, "web-a", label).await;
    eventually("the repair", async || {
        let map = cluster.get::<ConfigMap>(namespace, "web-a").await;
        (map["data"] == json!({ "value": "applied", "other": "kept" })).then_some(()).ok_or(map)
    })
    .await;
    assert_eq!(cluster.get::<ConfigMap>(namespace, "web-a").await["metadata"]["labels"]["mine"], "kept");
    cluster.raw::<ConfigMap>(namespace).delete("web-a", &DeleteParams::default()).await.unwrap();
    maps(&cluster, namespace, &["web-a", "web-second"]).await;
    // Then nothing is written any more.
    sleep(Duration::from_secs(1)).await;
    let before = operator.requests(&["verb=\"patch\""]);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(operator.requests(&["verb=\"patch\""]), before, "{:?}", operator.all_requests());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_was_deleted_while_no_watch_ran_is_made_again() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("relist-children").await;
    let namespace = namespace.as_str();
    let proxy = Proxy::start(&cluster).await;
    let operator = Running::start(proxy.config.clone(), &["--watch-namespace", namespace], both());
    cluster.create::<Web>(namespace, "web", json!({ "copies": ["a", "b"] })).await;
    maps(&cluster, namespace, &["web-a", "web-b", "web-second"]).await;
    proxy.set(Mode::Refuse(500, None));
    cluster.raw::<ConfigMap>(namespace).delete("web-a", &DeleteParams::default()).await.unwrap();
    maps(&cluster, namespace, &["web-b", "web-second"]).await;
    proxy.take();
    proxy.set(Mode::Expired);
    eventually("lists", async || {
        let requests = proxy.take();
        let lists = requests.iter().filter(|it| it.ends_with("/configmaps")).count();
        (lists > 1).then_some(()).ok_or(requests)
    })
    .await;
    proxy.set(Mode::Pass);
    maps(&cluster, namespace, &["web-a", "web-b", "web-second"]).await;
    operator.ready().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_of_another_controller_is_not_taken_over() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("foreign").await;
    let namespace = namespace.as_str();
    let _operator = cluster.run(&["--watch-namespace", namespace], both());
    let mut foreign = map("web-a", "of another");
    let owner = json!([{ "apiVersion": "v1", "kind": "ConfigMap", "name": "another", "uid": "1", "controller": true }]);
    foreign.metadata.owner_references = serde_json::from_value(owner).unwrap();
    let api = kube::Api::<ConfigMap>::namespaced(cluster.client.clone(), namespace);
    // The owner must exist, or Kubernetes garbage-collects the object.
    let another = api.create(&PostParams::default(), &map("another", "")).await.unwrap();
    foreign.metadata.owner_references.as_mut().unwrap()[0].uid = another.uid().unwrap();
    api.create(&PostParams::default(), &foreign).await.unwrap();
    cluster.create::<Web>(namespace, "web", json!({ "copies": ["a"] })).await;
    cluster.ready::<Web>(namespace, "web", "False", "RequestFailed").await;
    let message = cluster.condition::<Web>(namespace, "web", "Ready").await["message"].clone();
    assert!(message.as_str().unwrap().contains("metadata.ownerReferences"), "{message}");
    assert_eq!(cluster.get::<ConfigMap>(namespace, "web-a").await["data"]["value"], "of another");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_of_two_namespaces_leaves_others_alone() {
    let Some(cluster) = Cluster::shared().await else { return };
    let [one, two, other] = ["one", "two", "other"].map(|name| cluster.namespace(name));
    let (one, two, other) = (one.await, two.await, other.await);
    let operator = cluster.run(&["--watch-namespace", &format!("{one},{two}")], both());
    for namespace in [&other, &one, &two] {
        cluster.create::<Web>(namespace, "web", json!({ "copies": ["a"] })).await;
    }
    for namespace in [&one, &two] {
        maps(&cluster, namespace, &["web-a", "web-second"]).await;
        cluster.patch::<Web>(namespace, "web", json!({ "spec": { "copies": [] } })).await;
        maps(&cluster, namespace, &["web-second"]).await;
    }
    assert_eq!(cluster.get::<Web>(&other, "web").await.get("status"), None);
    operator.ready().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_outside_of_namespaces_has_children_in_several() {
    let Some(cluster) = Cluster::shared().await else { return };
    let (one, two) = (cluster.namespace("site-one").await, cluster.namespace("site-two").await);
    let reconcile = |object: Arc<Site>, ctx: Arc<Context>| async move {
        let mut children = Children::of(&*object, &ctx);
        for namespace in &object.spec.namespaces {
            let mut map = map(&object.name_any(), "applied");
            map.metadata.namespace = Some(namespace.clone());
            children.apply(map).await?;
        }
        children.prune::<ConfigMap>().await?;
        ok(children.outcome())
    };
    let operator = cluster.run(&[], vec![Controller::<Site>::new(reconcile).owns::<ConfigMap>().into()]);
    let spec = json!(SiteSpec { namespaces: vec![one.clone(), two.clone()] });
    let name = one.as_str();
    cluster.create::<Site>("", name, spec).await;
    cluster.ready::<Site>("", name, "True", "Available").await;
    for namespace in [&one, &two] {
        maps(&cluster, namespace, &[name]).await;
    }
    cluster.patch::<Site>("", name, json!({ "spec": { "namespaces": [two] } })).await;
    maps(&cluster, &one, &[]).await;
    maps(&cluster, &two, &[name]).await;
    cluster.raw::<ConfigMap>(&two).delete(name, &DeleteParams::default()).await.unwrap();
    maps(&cluster, &two, &[name]).await;
    // Restricted to one namespace, it still watches its own objects, which are cluster-scoped.
    drop(operator);
    let limited =
        cluster.run(&["--watch-namespace", &two], vec![Controller::<Site>::new(reconcile).owns::<ConfigMap>().into()]);
    limited.ready().await;
    cluster.raw::<Site>("").delete(name, &DeleteParams::default()).await.unwrap();
}

fn deployment(name: &str, replicas: i32) -> Deployment {
    let labels = json!({ "app": name });
    let pod = json!({ "containers": [{ "name": "web", "image": "example.com/web:1" }] });
    serde_json::from_value(json!({
        "metadata": { "name": name },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels }, "spec": pod },
        },
    }))
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_is_ready_when_its_deployment_is() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("ready").await;
    let namespace = namespace.as_str();
    let reconcile = |object: Arc<Web>, ctx: Arc<Context>| async move {
        let mut children = Children::of(&*object, &ctx);
        let size = object.spec.size.unwrap_or(1).cast_signed();
        let deployment = children.apply(deployment(&object.name_any(), size)).await?;
        let replicas = deployment.status.and_then(|status| status.replicas).unwrap_or_default();
        ok(children.outcome().status(json!({ "replicas": replicas })))
    };
    let operator = cluster
        .run(&["--watch-namespace", namespace], vec![Controller::<Web>::new(reconcile).owns::<Deployment>().into()]);
    cluster.create::<Web>(namespace, "web", json!({ "size": 2 })).await;
    // On a cluster without nodes, the test writes the status.
    let runs_pods = !cluster.names::<Node>("").await.is_empty();
    if !runs_pods {
        eventually("the Deployment", async || {
            let deployment = cluster.get::<Deployment>(namespace, "web").await;
            (!deployment.is_null()).then_some(()).ok_or(())
        })
        .await;
        let status = json!({ "observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2 });
        let patch = Patch::Merge(json!({ "status": status }));
        cluster.raw::<Deployment>(namespace).patch_status("web", &PatchParams::default(), &patch).await.unwrap();
    }
    cluster.ready::<Web>(namespace, "web", "True", "Available").await;
    let web = cluster.get::<Web>(namespace, "web").await;
    assert_eq!((&web["status"]["replicas"], &web["status"]["observedGeneration"]), (&json!(2), &json!(1)));
    let events = cluster.events(namespace, "web").await;
    assert!(events.iter().all(|(type_, ..)| type_ == "Normal"), "progress is no warning: {events:?}");
    let drift = json!({ "spec": { "replicas": 5 } });
    cluster.patch::<Deployment>(namespace, "web", drift).await;
    if runs_pods {
        eventually("the repair", async || {
            let deployment = cluster.get::<Deployment>(namespace, "web").await;
            (deployment["spec"]["replicas"] == 2).then_some(()).ok_or(deployment)
        })
        .await;
        cluster.ready::<Web>(namespace, "web", "True", "Available").await;
    }
    operator.ready().await;
}

/// The minimum: the finalizer, the child, and the status once the object exists.
#[tokio::test(flavor = "multi_thread")]
async fn objects_cost_few_requests() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("requests").await;
    let namespace = namespace.as_str();
    let cleaned = Arc::new(AtomicBool::new(false));
    let reconcile = |object: Arc<Web>, ctx: Arc<Context>| async move {
        let mut children = Children::of(&*object, &ctx);
        children.apply(map(&object.name_any(), "applied")).await?;
        children.prune::<ConfigMap>().await?;
        ok(children.outcome())
    };
    let controller = || {
        let cleaned = cleaned.clone();
        let cleanup = move |_: Arc<Web>, _: Arc<Context>| {
            cleaned.store(true, Ordering::SeqCst);
            async { ok(()) }
        };
        vec![
            Controller::<Web>::new(reconcile).owns::<ConfigMap>().finalizer("runtime.example.com/test", cleanup).into(),
        ]
    };
    let number = 30;
    for index in 0..number {
        cluster.create::<Web>(namespace, &format!("web-{index}"), json!({})).await;
    }
    let operator = cluster.run(&["--watch-namespace", namespace], controller());
    for index in 0..number {
        cluster.ready::<Web>(namespace, &format!("web-{index}"), "True", "Available").await;
    }
    sleep(Duration::from_secs(2)).await;
    let shown = format!("{:?}", operator.all_requests());
    assert_eq!(operator.requests(&["verb=\"patch\"", "resource=\"webs\""]), number, "a finalizer each: {shown}");
    assert_eq!(operator.requests(&["resource=\"webs/status\""]), number, "a status each: {shown}");
    assert_eq!(operator.requests(&["resource=\"events\""]), number, "an event each: {shown}");
    // The first apply, and at most one after the change of the child itself: that of the status causes none.
    let applies = operator.requests(&["verb=\"patch\"", "resource=\"configmaps\""]);
    assert!(applies <= 2 * number, "{shown}");
    assert_eq!(operator.requests(&["verb=\"get\""]), 1, "only the version: {shown}");
    assert_eq!(operator.requests(&["verb=\"delete\""]), 0, "{shown}");

    // After a restart, each child is applied once, without a change.
    drop(operator);
    let operator = cluster.run(&["--watch-namespace", namespace], controller());
    operator.ready().await;
    eventually("all applies", async || {
        let applies = operator.requests(&["verb=\"patch\"", "resource=\"configmaps\""]);
        (applies >= number).then_some(()).ok_or(applies)
    })
    .await;
    sleep(Duration::from_secs(2)).await;
    let shown = format!("{:?}", operator.all_requests());
    assert_eq!(operator.requests(&["verb=\"patch\"", "resource=\"configmaps\""]), number, "{shown}");
    assert_eq!(operator.requests(&["resource=\"webs/status\""]), 0, "{shown}");
    assert_eq!(operator.requests(&["resource=\"events\""]), 0, "{shown}");
    assert!(!cleaned.load(Ordering::SeqCst));
}
