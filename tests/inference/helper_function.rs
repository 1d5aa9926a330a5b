use k8s_openapi::api::core::v1::Service;
use kube::{Api, Client};

fn services(client: &Client) -> Api<Service> {
    Api::namespaced(client.clone(), "here")
}

pub async fn run(client: Client) {
    let _ = services(&client).get("a").await;
}
