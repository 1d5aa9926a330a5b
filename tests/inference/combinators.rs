use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

pub async fn run(client: Client) {
    let maybe = Some(client);
    let api = maybe.as_ref().map(|client| Api::<Pod>::all(client.clone()));
    let api = api.filter(|_| true).and_then(Some).unwrap_or_else(|| unreachable!());
    let _ = api.get("a").await;
}
