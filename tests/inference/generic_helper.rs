use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{Secret, Service};
use kube::{Api, Client, Resource};

fn api<K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>>(client: &Client) -> Api<K> {
    Api::namespaced(client.clone(), "here")
}

pub async fn run(client: Client) {
    let _ = api::<Service>(&client).get("a").await;
    let secrets: Api<Secret> = api(&client);
    let _ = secrets.list(&Default::default()).await;
}
