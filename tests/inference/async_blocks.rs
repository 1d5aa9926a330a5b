use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client};

pub async fn run(client: Client) {
    let pods: Api<Pod> = Api::all(client.clone());
    let future = async move {
        let found = pods.get("a").await?;
        Ok::<_, kube::Error>((found, pods))
    };
    if let Ok((_, pods)) = future.await {
        let _ = pods.list(&Default::default()).await;
    }
    let handle = tokio::spawn(async move { Api::<Secret>::all(client).get("a").await });
    let _ = handle.await;
}
