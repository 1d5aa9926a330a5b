use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::reflector::ObjectRef;
use kube::runtime::watcher;
use kube::{Api, Client};

use crate::kinds::Memcached;

async fn reconcile(_: Arc<Memcached>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let _ = Api::<Secret>::all((*client).clone()).get("a").await?;
    Ok(Action::await_change())
}

fn on_error(_: Arc<Memcached>, _: &kube::Error, _: Arc<Client>) -> Action {
    Action::requeue(Duration::from_secs(1))
}

pub async fn run(client: Client) {
    Controller::new(Api::namespaced(client.clone(), "here"), watcher::Config::default())
        .owns(Api::<Deployment>::all(client.clone()), watcher::Config::default())
        .watches(Api::<Pod>::all(client.clone()), watcher::Config::default(), |_| None::<ObjectRef<Memcached>>)
        .run(reconcile, on_error, Arc::new(client))
        .for_each(|_| async {})
        .await;
}
