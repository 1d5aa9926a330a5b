//! A task that is no controller.

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::PostParams;
use opctl_runtime::{Runnable, Runs};

pub fn task() -> Runnable {
    Runnable::new("task", Runs::InEveryReplica, async |ctx| {
        ctx.readiness.reached("task");
        let leases = ctx.api::<Lease>();
        leases.create(&PostParams::default(), &Lease::default()).await?;
        ctx.shutdown().await;
        Ok(())
    })
}
