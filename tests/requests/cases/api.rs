//! The methods of `Api` on objects.

use futures::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret};
use kube::api::{DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams, WatchParams};
use kube::{Api, Client};
use serde_json::json;

/// get configmaps in default
pub async fn get(client: Client) -> anyhow::Result<()> {
    Api::<ConfigMap>::namespaced(client, "default").get("a").await?;
    Ok(())
}

/// get configmaps in default
pub async fn get_with(client: Client) -> anyhow::Result<()> {
    Api::<ConfigMap>::namespaced(client, "default").get_with("a", &GetParams::any()).await?;
    Ok(())
}

/// get secrets in default
pub async fn get_opt(client: Client) -> anyhow::Result<()> {
    Api::<Secret>::namespaced(client, "default").get_opt("absent").await?;
    Ok(())
}

/// get secrets in default
pub async fn get_metadata(client: Client) -> anyhow::Result<()> {
    Api::<Secret>::namespaced(client, "default").get_metadata("a").await?;
    Ok(())
}

/// get secrets in default
pub async fn get_metadata_with(client: Client) -> anyhow::Result<()> {
    Api::<Secret>::namespaced(client, "default").get_metadata_with("a", &GetParams::any()).await?;
    Ok(())
}

/// get secrets in default
pub async fn get_metadata_opt(client: Client) -> anyhow::Result<()> {
    Api::<Secret>::namespaced(client, "default").get_metadata_opt("a").await?;
    Ok(())
}

/// get secrets in default
pub async fn get_metadata_opt_with(client: Client) -> anyhow::Result<()> {
    Api::<Secret>::namespaced(client, "default").get_metadata_opt_with("a", &GetParams::any()).await?;
    Ok(())
}

/// list nodes
pub async fn list(client: Client) -> anyhow::Result<()> {
    Api::<Node>::all(client).list(&ListParams::default()).await?;
    Ok(())
}

/// list nodes
pub async fn list_metadata(client: Client) -> anyhow::Result<()> {
    Api::<Node>::all(client).list_metadata(&ListParams::default()).await?;
    Ok(())
}

/// create deployments.apps in default
pub async fn create(client: Client) -> anyhow::Result<()> {
    Api::<Deployment>::namespaced(client, "default").create(&PostParams::default(), &Deployment::default()).await?;
    Ok(())
}

/// delete deployments.apps in default
pub async fn delete(client: Client) -> anyhow::Result<()> {
    let _ = Api::<Deployment>::namespaced(client, "default").delete("a", &DeleteParams::default()).await?;
    Ok(())
}

/// deletecollection deployments.apps in default
pub async fn delete_collection(client: Client) -> anyhow::Result<()> {
    let deployments = Api::<Deployment>::namespaced(client, "default");
    let _ = deployments.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    Ok(())
}

/// patch deployments.apps in default
pub async fn patch(client: Client) -> anyhow::Result<()> {
    let patch = Patch::Merge(json!({}));
    Api::<Deployment>::namespaced(client, "default").patch("a", &PatchParams::default(), &patch).await?;
    Ok(())
}

/// patch deployments.apps in default
pub async fn patch_strategic(client: Client) -> anyhow::Result<()> {
    let deployments = Api::<Deployment>::namespaced(client, "default");
    deployments.patch("a", &PatchParams::default(), &Patch::Strategic(json!({}))).await?;
    Ok(())
}

/// patch deployments.apps in default
pub async fn patch_metadata(client: Client) -> anyhow::Result<()> {
    let patch = Patch::Merge(json!({}));
    Api::<Deployment>::namespaced(client, "default").patch_metadata("a", &PatchParams::default(), &patch).await?;
    Ok(())
}

/// Server-side apply creates missing objects.
///
/// create configmaps in default
/// patch configmaps in default
pub async fn apply(client: Client) -> anyhow::Result<()> {
    let configs = Api::<ConfigMap>::namespaced(client, "default");
    let mut config = ConfigMap::default();
    config.metadata.name = Some("applied".into());
    configs.patch("applied", &PatchParams::apply("test"), &Patch::Apply(config)).await?;
    Ok(())
}

/// create configmaps in default
/// patch configmaps in default
pub async fn apply_metadata(client: Client) -> anyhow::Result<()> {
    let configs = Api::<ConfigMap>::namespaced(client, "default");
    let patch = Patch::Apply(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "made" } }));
    configs.patch_metadata("made", &PatchParams::apply("test").force(), &patch).await?;
    Ok(())
}

/// update deployments.apps in default
pub async fn replace(client: Client) -> anyhow::Result<()> {
    let deployments = Api::<Deployment>::namespaced(client, "default");
    deployments.replace("a", &PostParams::default(), &Deployment::default()).await?;
    Ok(())
}

/// watch configmaps in default
pub async fn watch(client: Client) -> anyhow::Result<()> {
    let configs = Api::<ConfigMap>::namespaced(client, "default");
    let mut events = configs.watch(&WatchParams::default(), "0").await?.boxed();
    events.next().await;
    Ok(())
}

/// watch configmaps in default
pub async fn watch_metadata(client: Client) -> anyhow::Result<()> {
    let configs = Api::<ConfigMap>::namespaced(client, "default");
    let mut events = configs.watch_metadata(&WatchParams::default(), "0").await?.boxed();
    events.next().await;
    Ok(())
}

/// get configmaps in default
pub async fn entry(client: Client) -> anyhow::Result<()> {
    Api::<ConfigMap>::namespaced(client, "default").entry("a").await?;
    Ok(())
}

/// + create configmaps in default
/// get configmaps in default
/// update configmaps in default
pub async fn commit_changed(client: Client) -> anyhow::Result<()> {
    let configs = Api::<ConfigMap>::namespaced(client, "default");
    let mut entry = configs.entry("a").await?.and_modify(|config| config.data = None).or_insert(ConfigMap::default);
    entry.commit(&PostParams::default()).await?;
    Ok(())
}

/// create configmaps in default
/// get configmaps in default
/// + update configmaps in default
pub async fn commit_new(client: Client) -> anyhow::Result<()> {
    let configs = Api::<ConfigMap>::namespaced(client, "default");
    let mut entry = configs.entry("absent").await?.or_insert(ConfigMap::default);
    entry.commit(&PostParams::default()).await?;
    Ok(())
}
