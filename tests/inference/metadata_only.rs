use k8s_openapi::api::core::v1::Pod;
use kube::core::PartialObjectMeta;
use kube::{Api, Client};

pub async fn run(client: Client) {
    let pods: Api<PartialObjectMeta<Pod>> = Api::all(client);
    let _ = pods.get("a").await;
}
