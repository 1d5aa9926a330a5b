//! Controllers in plain kube-rs, which run under the manager.

use std::convert::Infallible;
use std::sync::Arc;

use futures::StreamExt;
use k8s_openapi::api::core::v1::{Node, ReplicationController, ResourceQuota};
use kube::Api;
use kube::runtime::controller::Action;
use kube::runtime::watcher;
use opctl_runtime::controller::drive;
use opctl_runtime::{Context, Result, Runnable, Runs, manager};

pub fn controller() -> Runnable {
    Runnable::new("plain", Runs::Once, run)
}

async fn run(ctx: Context) -> Result<(), manager::Error> {
    let quotas = ctx.api::<ResourceQuota>();
    let controller = kube::runtime::Controller::new(Api::<Node>::all(ctx.client.clone()), watcher::Config::default());
    let reconciles = controller.owns(quotas, watcher::Config::default()).graceful_shutdown_on(ctx.shutdown()).run(
        async |_, _| Ok::<_, Infallible>(Action::await_change()),
        |_, _, _| Action::await_change(),
        Arc::new(()),
    );
    ctx.readiness.reached("plain");
    reconciles.for_each(|_| async {}).await;
    Ok(())
}

pub fn driven() -> Runnable {
    Runnable::new("driven", Runs::PerNamespace, |ctx| async move {
        let controller = kube::runtime::Controller::new(ctx.api(), watcher::Config::default());
        drive("driven", controller, reconcile, ctx).await
    })
}

async fn reconcile(controller: Arc<ReplicationController>, ctx: Arc<Context>) -> Result<Action> {
    ctx.event(&*controller, kube::runtime::events::EventType::Normal, "Seen", "it is there").await;
    Ok(ctx.requeue())
}
