//! A reconcile that is a closure.

use std::sync::Arc;

use k8s_openapi::api::batch::v1::{CronJob, Job};
use opctl_runtime::{Context, Controller, Error, Outcome, Runnable};

pub fn controller() -> Runnable {
    let reconcile = |_: Arc<Job>, _: Arc<Context>| async { Ok::<_, Error>(Outcome::unchanged()) };
    Controller::<Job>::new(reconcile).into()
}

pub fn action() -> Runnable {
    Controller::<CronJob>::new(async |_, ctx: Arc<Context>| Ok::<_, Error>(ctx.requeue())).into()
}
