use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

type Pods = Api<Pod>;
type Objects<K> = Api<K>;

async fn first(pods: &Pods) {
    let _ = pods.get("a").await;
}

pub async fn run(client: Client) {
    first(&Pods::all(client.clone())).await;
    let nodes: Objects<k8s_openapi::api::core::v1::Node> = Objects::all(client);
    let _ = nodes.get("a").await;
}
