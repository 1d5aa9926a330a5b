//! An operator with one controller: it manages a Deployment of memcached for each `Cache`, and reports its progress in
//! the status.
//!
//! Run it with your own permissions against the cluster of your kubeconfig:
//!
//! ```sh
//! cargo run --example caches -- crds | kubectl apply --server-side -f -
//! cargo run --example caches
//! ```
//!
//! `rbac.yaml` grants the permissions that it needs as a Pod.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::runtime::events::EventType;
use kube::{CustomResource, CustomResourceExt, KubeSchema, ResourceExt};
use opctl_runtime::{Children, Context, Controller, Manager, Operator, Outcome, Result, Runnable, crds};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A separate package uses `operator!()`: the name and version of the package.
const OPERATOR: Operator = Operator { name: "caches", version: "1.0.0" };

/// Kubernetes does not delete an object with this finalizer until `cleanup` has succeeded.
const FINALIZER: &str = "caches.cache.example.com/cleanup";

#[tokio::main]
async fn main() -> io::Result<ExitCode> {
    if std::env::args().nth(1).as_deref() == Some("crds") {
        crds::print(&definitions())?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(Manager::new(OPERATOR).run(vec![controller()]).await)
}

/// Servers of memcached.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[kube(group = "cache.example.com", version = "v1", kind = "Cache", namespaced, status = "CacheStatus")]
pub struct CacheSpec {
    /// The number of servers.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 5))]
    pub size: i32,
}

fn one() -> i32 {
    1
}

/// The observed state of a Cache.
#[derive(KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CacheStatus {
    /// The generation of the object that this status describes.
    pub observed_generation: Option<i64>,
    /// The number of servers that exist.
    #[serde(default)]
    pub replicas: i32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

fn definitions() -> Vec<CustomResourceDefinition> {
    vec![Cache::crd()]
}

fn controller() -> Runnable {
    Controller::<Cache>::new(reconcile).owns::<Deployment>().finalizer(FINALIZER, cleanup).into()
}

/// Runs after every change of a Cache or its Deployment, and after a failure.
async fn reconcile(object: Arc<Cache>, ctx: Arc<Context>) -> Result<Outcome> {
    let mut children = Children::of(&*object, &ctx);
    let deployment = children.apply(deployment(&object)).await?;
    let replicas = deployment.status.and_then(|status| status.replicas).unwrap_or_default();
    // `Ready` is true once the Deployment is available.
    Ok(children.outcome().status(CacheStatus { replicas, ..Default::default() }))
}

/// Deletes resources that Kubernetes does not garbage-collect with a Cache, such as those outside of the cluster.
async fn cleanup(object: Arc<Cache>, ctx: Arc<Context>) -> Result<()> {
    let note = format!("the Deployment {} is deleted with it", object.name_any());
    ctx.event(&*object, EventType::Normal, "CleanedUp", note).await;
    Ok(())
}

fn deployment(object: &Cache) -> Deployment {
    let selected = json!({ "app.kubernetes.io/name": "memcached", "app.kubernetes.io/instance": object.name_any() });
    let mut labels = selected.clone();
    labels["app.kubernetes.io/managed-by"] = OPERATOR.name.into();
    let container = json!({
        "name": "memcached",
        "image": "memcached:1.6.39-alpine",
        "ports": [{ "name": "memcached", "containerPort": 11211 }],
    });
    let deployment = json!({
        "metadata": { "name": object.name_any(), "labels": labels },
        "spec": {
            "replicas": object.spec.size,
            "selector": { "matchLabels": selected },
            "template": { "metadata": { "labels": labels }, "spec": { "containers": [container] } },
        },
    });
    serde_json::from_value(deployment).expect("these are fields of a Deployment")
}
