use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

struct Pods(Client, Api<Pod>);

pub async fn run(client: Client) {
    let pods = Pods(client.clone(), Api::all(client));
    let _ = pods.1.get("a").await;
    let Pods(_, api) = pods;
    let _ = api.list(&Default::default()).await;
}
