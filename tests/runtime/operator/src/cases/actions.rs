//! A reconcile that returns kube's `Action`, or nothing, writes no status.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::runtime::controller::Action;
use opctl_runtime::{Context, Controller, Result, Runnable};

pub fn controller() -> Runnable {
    Controller::<Pod>::new(reconcile).into()
}

async fn reconcile(pod: Arc<Pod>, ctx: Arc<Context>) -> Result<Action> {
    if pod.metadata.name.is_none() {
        return Ok(Action::await_change());
    }
    Ok(ctx.requeue())
}

pub fn unit() -> Runnable {
    Controller::new(note).named("notes").into()
}

async fn note(_: Arc<Namespace>, _: Arc<Context>) -> Result<()> {
    Ok(())
}
