//! A reconcile that returns a condition, for a kind of the whole cluster, and with an error type of its own.

use std::fmt;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use opctl_runtime::{Context, Controller, Runnable, conditions};

use crate::api::Fleet;

#[derive(Debug)]
struct Lost;

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lost")
    }
}

impl std::error::Error for Lost {}

pub fn controller() -> Runnable {
    Controller::<Fleet>::new(reconcile).finalizer("example.com/fleet", cleanup).into()
}

async fn reconcile(_: Arc<Fleet>, _: Arc<Context>) -> Result<Condition, Lost> {
    Ok(conditions::ready("Afloat", "it swims"))
}

async fn cleanup(_: Arc<Fleet>, _: Arc<Context>) -> Result<(), Lost> {
    Ok(())
}
