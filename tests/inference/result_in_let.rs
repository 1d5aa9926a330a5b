use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::ObjectList;
use kube::{Api, Client};

pub async fn run(client: Client) -> Result<(), kube::Error> {
    let pods: ObjectList<Pod> = Api::all(client.clone()).list(&Default::default()).await?;
    let secret: Secret = Api::namespaced(client, "here").get("a").await?;
    drop((pods, secret));
    Ok(())
}
