use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

fn pods(client: Client, namespace: Option<String>) -> Api<Pod> {
    let Some(namespace) = namespace else {
        return Api::all(client);
    };
    Api::namespaced(client, &namespace)
}

pub async fn run(client: Client) {
    let _ = pods(client, None).list(&Default::default()).await;
}
