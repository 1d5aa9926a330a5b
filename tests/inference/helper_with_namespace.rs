use k8s_openapi::api::core::v1::Service;
use kube::{Api, Client};

fn services(client: &Client, namespace: &str) -> Api<Service> {
    Api::namespaced(client.clone(), namespace)
}

pub async fn run(client: Client) {
    let _ = services(&client, "here").get("a").await;
}
