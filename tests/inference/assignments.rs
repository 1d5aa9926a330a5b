use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

pub async fn run(client: Client) {
    let api;
    if std::env::args().count() > 100 {
        api = Api::<Pod>::all(client);
    } else {
        api = Api::namespaced(client, "here");
    }
    let _ = api.get("a").await;
}
