use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

fn api(client: Client) -> Option<Api<Pod>> {
    Some(Api::all(client))
}

fn checked(client: Client) -> Result<Api<Pod>, String> {
    api(client).ok_or("none".to_string())
}

async fn first(client: Client) -> Option<Pod> {
    let pod = api(client.clone())?.get("a").await.ok()?;
    Some(pod)
}

async fn second(client: Client) -> Result<Pod, String> {
    checked(client)?.get("b").await.map_err(|error| error.to_string())
}

pub async fn run(client: Client) {
    first(client.clone()).await;
    let _ = second(client).await;
}
