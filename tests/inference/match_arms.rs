use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

async fn count(client: Client, namespace: Option<&str>) {
    let pods: Api<Pod> = match namespace {
        Some(namespace) => Api::namespaced(client, namespace),
        None => Api::all(client),
    };
    let _ = pods.list(&Default::default()).await;
}

async fn get(client: Client, first: bool) {
    let pods: Api<Pod> = if first { Api::namespaced(client, "a") } else { Api::namespaced(client, "b") };
    let _ = pods.get("a").await;
}

pub async fn run(client: Client) {
    count(client.clone(), None).await;
    get(client, true).await;
}
