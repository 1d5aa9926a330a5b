use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher;
use kube::{Api, Client, ResourceExt};

use crate::kinds::Fleet;

struct Context {
    fleets: Api<Fleet>,
}

pub async fn run(client: Client) {
    let fleets: Api<Fleet> = Api::all(client);
    let context = Arc::new(Context { fleets: fleets.clone() });
    let on_error = |_, _: &kube::Error, _| Action::requeue(Duration::from_secs(1));
    let reconcile = |fleet: Arc<Fleet>, ctx: Arc<Context>| async move {
        ctx.fleets.get(&fleet.name_any()).await?;
        Ok(Action::await_change())
    };
    Controller::new(fleets, watcher::Config::default()).run(reconcile, on_error, context).for_each(|_| async {}).await;
}
