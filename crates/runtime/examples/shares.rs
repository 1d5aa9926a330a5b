//! An operator for the tests of several active replicas: it copies the `value` of each ConfigMap with the label
//! `shared=true` into a Secret, and prints when each reconcile begins and ends.
//!
//! `WAIT` is the time that a reconcile waits for something else, in milliseconds (default 50).

use std::env;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt;
use kube::runtime::controller::Action;
use kube::runtime::watcher;
use opctl_runtime::{Children, Context, Controller, Manager, Operator, Result, Runnable, Runs};
use tokio::time::sleep;

const OPERATOR: Operator = Operator { name: "shares", version: "1.0.0" };

#[tokio::main]
async fn main() -> ExitCode {
    let controller = Controller::<ConfigMap>::new(reconcile)
        .config(watcher::Config::default().labels("shared=true"))
        .owns_with::<Secret>(watcher::Config::default().labels("copy=true"));
    let leader = Runnable::new("leader", Runs::Once, async |ctx| {
        ctx.readiness.reached("leader");
        println!("{} leads", now());
        ctx.shutdown().await;
        println!("{} leads no more", now());
        Ok(())
    });
    Manager::new(OPERATOR).run(vec![controller.into(), leader]).await
}

async fn reconcile(object: Arc<ConfigMap>, ctx: Arc<Context>) -> Result<Action> {
    let _interval = Interval::of(&object);
    let wait = env::var("WAIT").ok().and_then(|text| text.parse().ok()).unwrap_or(50);
    sleep(Duration::from_millis(wait)).await;
    let mut copy = Secret::default();
    copy.metadata.name = Some(object.name_any());
    copy.metadata.labels = Some([("copy".to_owned(), "true".to_owned())].into());
    let value = object.data.iter().flatten().find(|(key, _)| *key == "value").map(|(_, value)| value.clone());
    copy.string_data = Some([("value".to_owned(), value.unwrap_or_default())].into());
    Children::of(&*object, &ctx).apply(copy).await?;
    Ok(ctx.requeue())
}

/// The time of a reconcile, printed when it begins and when it ends or is dropped.
struct Interval(String);

impl Interval {
    fn of(object: &ConfigMap) -> Self {
        let uid = object.uid().unwrap_or_default();
        println!("{} begins {uid}", now());
        Self(uid)
    }
}

impl Drop for Interval {
    fn drop(&mut self) {
        println!("{} ends {}", now(), self.0);
    }
}

/// Microseconds since 1970.
fn now() -> u128 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_micros()
}
