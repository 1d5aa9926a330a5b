use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client, ResourceExt};

pub async fn run(client: Client) -> Result<(), kube::Error> {
    let pods = Api::<Pod>::all(client.clone());
    for pod in pods.list(&Default::default()).await? {
        let secrets: Api<Secret> = Api::namespaced(client.clone(), &pod.namespace().unwrap());
        while let Some(_) = secrets.get_opt(&pod.name_any()).await? {
            let found = loop {
                break pods.get("a").await?;
            };
            drop(found);
        }
    }
    Ok(())
}
