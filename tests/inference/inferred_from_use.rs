//! The kind is only said by what the object is used for.

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{Api, Client};

fn take(_: ConfigMap) {}

pub async fn run(client: Client) -> Option<Pod> {
    let maps = Api::all(client.clone());
    if let Ok(map) = maps.get("a").await {
        take(map);
    }
    let pods = Api::namespaced(client.clone(), "here");
    let created = Api::namespaced(client, "there");
    let _ = created.create(&Default::default(), &ConfigMap::default()).await;
    pods.get_opt("a").await.ok()?
}
