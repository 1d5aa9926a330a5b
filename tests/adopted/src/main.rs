//! An operator with kube alone: no library, no opctl-runtime, no RBAC markers.

mod crd;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher;
use kube::{Client, Error, ResourceExt};
use serde_json::json;

use crd::Shelf;

async fn reconcile(shelf: Arc<Shelf>, client: Arc<Client>) -> Result<Action, Error> {
    let (name, namespace) = (shelf.name_any(), shelf.namespace().unwrap_or_default());
    let params = PatchParams::apply("shelf-operator").force();
    let maps: Api<ConfigMap> = Api::namespaced((*client).clone(), &namespace);
    let map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": name },
        "data": { "books": shelf.spec.books.to_string() },
    });
    maps.patch(&name, &params, &Patch::Apply(map)).await?;
    let shelves: Api<Shelf> = Api::namespaced((*client).clone(), &namespace);
    let status = json!({
        "apiVersion": "library.example.com/v1",
        "kind": "Shelf",
        "status": { "free": 100 - shelf.spec.books },
    });
    shelves.patch_status(&name, &params, &Patch::Apply(status)).await?;
    Ok(Action::requeue(Duration::from_secs(300)))
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let client = Client::try_default().await?;
    let shelves: Api<Shelf> = Api::all(client.clone());
    Controller::new(shelves, watcher::Config::default())
        .owns(Api::<ConfigMap>::all(client.clone()), watcher::Config::default())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(5)), Arc::new(client))
        .for_each(|_| async {})
        .await;
    Ok(())
}
