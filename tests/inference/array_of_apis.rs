use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};

pub async fn run(client: Client) {
    for api in [Api::<Secret>::all(client.clone()), Api::namespaced(client.clone(), "x")] {
        let _ = api.get("a").await;
    }
    let list = vec![Api::<Secret>::all(client)];
    let _ = list[0].list(&Default::default()).await;
}
