use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client};

pub async fn run(client: Client) {
    let pods = ["a", "b"].into_iter().map(|namespace| Api::<Pod>::namespaced(client.clone(), namespace)).collect::<Vec<_>>();
    for pods in &pods {
        let _ = pods.get("a").await;
    }
    let secrets: Result<Vec<_>, String> = [1].iter().map(|_| Ok(Api::<Secret>::all(client.clone()))).collect();
    if let Some(secrets) = secrets.unwrap().first() {
        let _ = secrets.get("a").await;
    }
}
