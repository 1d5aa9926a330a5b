use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

pub async fn run(client: Client) {
    let apis: Vec<Api<Pod>> = ["a", "b"].iter().map(|namespace| Api::namespaced(client.clone(), namespace)).collect();
    for api in &apis {
        let _ = api.get("a").await;
    }
    for api in apis.into_iter() {
        let _ = api.list(&Default::default()).await;
    }
}
