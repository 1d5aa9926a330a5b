//! Other kinds that a controller watches, and a finalizer.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::{DaemonSet, StatefulSet};
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use k8s_openapi::api::networking::v1::{Ingress, NetworkPolicy};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::Api;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::watcher;
use opctl_runtime::{Context, Controller, Outcome, Result, Runnable};

pub fn controller() -> Runnable {
    let labelled = watcher::Config::default().labels("app=a");
    let controller = Controller::<StatefulSet>::new(reconcile)
        .config(labelled.clone())
        .condition("Other")
        .owns::<DaemonSet>()
        .owns_with::<Ingress>(labelled.clone());
    let controller = controller
        .watches::<NetworkPolicy, _>(|policy| policy.metadata.name.map(|name| ObjectRef::new(&name)))
        .watches_with(labelled, scaled)
        .watches_when(|set, claim: &PersistentVolumeClaim| set.metadata.labels == claim.metadata.labels);
    controller.timeout(std::time::Duration::from_secs(60)).finalizer("example.com/stateful", cleanup).into()
}

fn scaled(scaler: HorizontalPodAutoscaler) -> Vec<ObjectRef<StatefulSet>> {
    scaler.metadata.name.iter().map(|name| ObjectRef::new(name)).collect()
}

async fn reconcile(_: Arc<StatefulSet>, ctx: Arc<Context>) -> Result<Outcome> {
    let sets = ctx.objects::<StatefulSet>();
    Ok(Outcome::not_ready("Waiting", format!("for {} others", sets.len())))
}

async fn cleanup(object: Arc<StatefulSet>, ctx: Arc<Context>) -> Result<()> {
    let namespace = object.metadata.namespace.clone().unwrap_or_default();
    let budgets: Api<PodDisruptionBudget> = Api::namespaced(ctx.client.clone(), &namespace);
    budgets.delete_collection(&Default::default(), &Default::default()).await?;
    Ok(())
}
