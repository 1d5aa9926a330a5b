//! An API server that refuses requests or is slow does not get more requests.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use opctl_runtime::{Children, Context, Controller, Outcome, Result, Runnable};
use serde_json::json;
use tokio::time::sleep;

use crate::cluster::{Cluster, Running, eventually};
use crate::kinds::Web;
use crate::proxy::{Mode, Proxy};

async fn reconcile(object: Arc<Web>, ctx: Arc<Context>) -> Result<Outcome> {
    let mut children = Children::of(&*object, &ctx);
    let mut map = ConfigMap::default();
    map.metadata.name = Some(object.name_any());
    map.data = Some([("size".to_owned(), format!("{:?}", object.spec.size))].into());
    children.apply(map).await?;
    Ok(children.outcome())
}

fn controller() -> Vec<Runnable> {
    vec![Controller::<Web>::new(reconcile).owns::<ConfigMap>().into()]
}

const OBJECTS: usize = 20;

async fn all_ready(cluster: &Cluster, namespace: &str, generation: i64) {
    for index in 0..OBJECTS {
        eventually("a status", async || {
            let web = cluster.get::<Web>(namespace, &format!("web-{index}")).await;
            let condition = &web["status"]["conditions"][0];
            let is = condition["status"] == "True" && condition["observedGeneration"] == generation;
            is.then_some(()).ok_or(web)
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_do_not_multiply_requests() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("refusals").await;
    let namespace = namespace.as_str();
    let proxy = Proxy::start(&cluster).await;
    for index in 0..OBJECTS {
        cluster.create::<Web>(namespace, &format!("web-{index}"), json!({})).await;
    }
    let operator = Running::start(proxy.config.clone(), &["--watch-namespace", namespace], controller());
    operator.ready().await;
    all_ready(&cluster, namespace, 1).await;
    let mut generation = 1;
    for (mode, most) in [
        (Mode::Refuse(429, Some(3)), 2 * OBJECTS),
        (Mode::Refuse(503, None), 2 * OBJECTS),
        (Mode::Refuse(500, None), 8 * OBJECTS),
    ] {
        generation += 1;
        // The objects change just before, so that all of them are due.
        for index in 0..OBJECTS {
            cluster.patch::<Web>(namespace, &format!("web-{index}"), json!({ "spec": { "size": generation } })).await;
            if index == 0 {
                proxy.take();
                proxy.set(Mode::Slow(Duration::from_millis(300)));
            }
        }
        sleep(Duration::from_millis(200)).await;
        proxy.set(mode.clone());
        sleep(Duration::from_secs(6)).await;
        let requests = proxy.take();
        assert!(requests.len() <= most, "{mode:?}: {} requests: {requests:?}", requests.len());
        proxy.set(Mode::Pass);
        all_ready(&cluster, namespace, generation).await;
        assert!(operator.is_ready().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_api_server_gets_no_more_requests() {
    let Some(cluster) = Cluster::shared().await else { return };
    let namespace = cluster.namespace("slow").await;
    let namespace = namespace.as_str();
    let proxy = Proxy::start(&cluster).await;
    proxy.set(Mode::Slow(Duration::from_millis(500)));
    for index in 0..OBJECTS {
        cluster.create::<Web>(namespace, &format!("web-{index}"), json!({})).await;
    }
    let operator = Running::start(proxy.config.clone(), &["--watch-namespace", namespace], controller());
    operator.ready().await;
    all_ready(&cluster, namespace, 1).await;
    sleep(Duration::from_secs(2)).await;
    let requests = proxy.take();
    let of = |text: &str| requests.iter().filter(|request| request.contains(text)).count();
    assert_eq!(of("/status"), OBJECTS, "{requests:?}");
    assert_eq!(of("/events"), OBJECTS, "{requests:?}");
    assert!(of("PATCH") - of("/status") <= 3 * OBJECTS, "{requests:?}");
}
