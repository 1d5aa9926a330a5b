use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube_client::api::{Api, ListParams};
use kube_client::{Client, Error};
use kube_runtime::controller::Action;
use kube_runtime::{finalizer, watcher};

async fn crates_by_their_own_names(client: Client) {
    let pods = Api::<Pod>::default_namespaced(client.clone());
    let _ = pods.list(&ListParams::default()).await;
    let _ = watcher(pods, watcher::Config::default());
    let configs = Api::<ConfigMap>::default_namespaced(client);
    let done = |_| async { Ok::<_, Error>(Action::await_change()) };
    let _ = finalizer(&configs, "example.com/a", Arc::new(ConfigMap::default()), done).await;
}
