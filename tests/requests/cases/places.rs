//! Namespaces of the objects that an `Api` or a `Client` requests.

use k8s_openapi::api::core::v1::{ConfigMap, LocalObjectReference, Namespace, Node, ObjectReference, Pod};
use kube::api::{DynamicObject, GetParams, ListParams};
use kube::client::scope::{self, NamespacedRef};
use kube::core::{ApiResource, GroupVersionKind, Request};
use kube::{Api, Client, Resource};

/// list pods
pub async fn all(client: Client) -> anyhow::Result<()> {
    Api::<Pod>::all(client).list(&ListParams::default()).await?;
    Ok(())
}

/// list pods in one
pub async fn namespaced(client: Client) -> anyhow::Result<()> {
    Api::<Pod>::namespaced(client, "one").list(&ListParams::default()).await?;
    Ok(())
}

/// list pods in default
pub async fn default_namespaced(client: Client) -> anyhow::Result<()> {
    Api::<Pod>::default_namespaced(client).list(&ListParams::default()).await?;
    Ok(())
}

/// get namespaces
pub async fn namespaces(client: Client) -> anyhow::Result<()> {
    Api::<Namespace>::all(client).get("one").await?;
    Ok(())
}

/// list certificates.cert-manager.io
pub async fn all_with(client: Client) -> anyhow::Result<()> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("cert-manager.io", "v1", "Certificate"));
    Api::<DynamicObject>::all_with(client, &resource).list(&ListParams::default()).await?;
    Ok(())
}

/// list networkpolicies.networking.k8s.io in one
pub async fn namespaced_with(client: Client) -> anyhow::Result<()> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("networking.k8s.io", "v1", "NetworkPolicy"));
    Api::<DynamicObject>::namespaced_with(client, "one", &resource).list(&ListParams::default()).await?;
    Ok(())
}

/// list pods in default
pub async fn default_namespaced_with(client: Client) -> anyhow::Result<()> {
    let resource = ApiResource::erase::<Pod>(&());
    Api::<DynamicObject>::default_namespaced_with(client, &resource).list(&ListParams::default()).await?;
    Ok(())
}

/// list deployments.apps
pub async fn dynamic(client: Client) -> anyhow::Result<()> {
    let gvk = GroupVersionKind::gvk("apps", "v1", "Deployment");
    let (resource, capabilities) = kube::discovery::pinned_kind(&client, &gvk).await?;
    Api::<DynamicObject>::dynamic(client, &resource, &capabilities.scope).list(&ListParams::default()).await?;
    Ok(())
}

/// list pods in one
pub async fn constrain(client: Client) -> anyhow::Result<()> {
    Api::<Pod>::all(client).constrain("one").list(&ListParams::default()).await?;
    Ok(())
}

/// list pods
pub async fn unconstrain(client: Client) -> anyhow::Result<()> {
    Api::<Pod>::namespaced(client, "one").unconstrain().list(&ListParams::default()).await?;
    Ok(())
}

/// list pods in default
pub async fn constrain_default(client: Client) -> anyhow::Result<()> {
    Api::<Pod>::all(client).constrain_default().list(&ListParams::default()).await?;
    Ok(())
}

/// get pods in one
pub async fn client_get(client: Client) -> anyhow::Result<()> {
    client.get::<Pod>("a", &scope::Namespace::from("one")).await?;
    Ok(())
}

/// get nodes
pub async fn client_get_in_cluster(client: Client) -> anyhow::Result<()> {
    client.get::<Node>("a", &scope::Cluster).await?;
    Ok(())
}

/// list pods
pub async fn client_list(client: Client) -> anyhow::Result<()> {
    client.list::<Pod>(&ListParams::default(), &scope::Cluster).await?;
    Ok(())
}

/// list pods in one
pub async fn client_list_in_namespace(client: Client) -> anyhow::Result<()> {
    client.list::<Pod>(&ListParams::default(), &scope::Namespace::from("one")).await?;
    Ok(())
}

/// get configmaps in one
pub async fn fetch(client: Client) -> anyhow::Result<()> {
    let reference = LocalObjectReference { name: "a".into() };
    let _: ConfigMap = client.fetch(&reference.within(String::from("one"))).await?;
    Ok(())
}

/// get pods in one
pub async fn raw_get(client: Client) -> anyhow::Result<()> {
    let request = Request::new(Pod::url_path(&(), Some("one"))).get("a", &GetParams::default())?;
    let _: Pod = client.request(request).await?;
    Ok(())
}

/// Everybody may discover.
pub async fn discovers(client: Client) -> anyhow::Result<()> {
    kube::Discovery::new(client.clone()).run().await?;
    client.apiserver_version().await?;
    client.list_api_groups().await?;
    kube::discovery::group(&client, "apps").await?;
    let _ = ObjectReference::default();
    Ok(())
}
