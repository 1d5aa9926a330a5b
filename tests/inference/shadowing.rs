use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client};

pub async fn run(client: Client) {
    let api: Api<Pod> = Api::all(client.clone());
    {
        let api: Api<Secret> = Api::all(client);
        let _ = api.get("a").await;
    }
    let _ = api.get("a").await;
}
