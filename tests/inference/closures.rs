use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client};

pub async fn run(client: Client) {
    let pods = |namespace: &str| Api::<Pod>::namespaced(client.clone(), namespace);
    let _ = pods("here").get("a").await;
    let get = async |api: Api<Secret>| api.get("a").await;
    let _ = get(Api::all(client.clone())).await;
    let later = |api: Api<Pod>| async move { api.get("b").await };
    let _ = later(Api::all(client.clone())).await;
}
