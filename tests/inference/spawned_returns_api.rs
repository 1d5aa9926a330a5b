use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

pub async fn run(client: Client) {
    let api = tokio::spawn(async move { Api::<Pod>::all(client) }).await.unwrap();
    let _ = api.get("a").await;
}
