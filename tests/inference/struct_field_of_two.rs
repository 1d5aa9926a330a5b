//! The namespace of a field with two values is unknown.

use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

struct Pods {
    api: Api<Pod>,
}

async fn count(pods: Pods) {
    let _ = pods.api.get("a").await;
}

pub async fn run(client: Client) {
    count(Pods { api: Api::all(client.clone()) }).await;
    count(Pods { api: Api::namespaced(client, "here") }).await;
}
