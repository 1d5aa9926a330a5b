//! The methods of `Api` on subresources.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment};
use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::autoscaling::v1::Scale;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::{Node, Pod, ServiceAccount};
use kube::api::{AttachParams, EvictParams, LogParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};

const MERGE: Patch<Value> = Patch::Merge(Value::Null);

/// get deployments.apps/scale in default
pub async fn get_scale(client: Client) -> anyhow::Result<()> {
    Api::<Deployment>::namespaced(client, "default").get_scale("a").await?;
    Ok(())
}

/// patch deployments.apps/scale in default
pub async fn patch_scale(client: Client) -> anyhow::Result<()> {
    Api::<Deployment>::namespaced(client, "default").patch_scale("a", &PatchParams::default(), &MERGE).await?;
    Ok(())
}

/// update deployments.apps/scale in default
pub async fn replace_scale(client: Client) -> anyhow::Result<()> {
    let scale = Scale::default();
    Api::<Deployment>::namespaced(client, "default").replace_scale("a", &PostParams::default(), &scale).await?;
    Ok(())
}

/// get deployments.apps/status in default
pub async fn get_status(client: Client) -> anyhow::Result<()> {
    Api::<Deployment>::namespaced(client, "default").get_status("a").await?;
    Ok(())
}

/// patch deployments.apps/status in default
pub async fn patch_status(client: Client) -> anyhow::Result<()> {
    Api::<Deployment>::namespaced(client, "default").patch_status("a", &PatchParams::default(), &MERGE).await?;
    Ok(())
}

/// The status of what is not there cannot be applied.
///
/// patch deployments.apps/status in default
pub async fn apply_status(client: Client) -> anyhow::Result<()> {
    let deployments = Api::<Deployment>::namespaced(client, "default");
    deployments.patch_status("a", &PatchParams::apply("test"), &Patch::Apply(json!({}))).await?;
    Ok(())
}

/// update deployments.apps/status in default
pub async fn replace_status(client: Client) -> anyhow::Result<()> {
    let deployment = Deployment::default();
    Api::<Deployment>::namespaced(client, "default").replace_status("a", &PostParams::default(), &deployment).await?;
    Ok(())
}

/// get deployments.apps/status in default
pub async fn get_subresource(client: Client) -> anyhow::Result<()> {
    Api::<Deployment>::namespaced(client, "default").get_subresource("status", "a").await?;
    Ok(())
}

/// create pods/binding in default
pub async fn create_subresource(client: Client) -> anyhow::Result<()> {
    let pods = Api::<Pod>::namespaced(client, "default");
    let _: Value = pods.create_subresource("binding", "a", &PostParams::default(), &json!({})).await?;
    Ok(())
}

/// patch deployments.apps/scale in default
pub async fn patch_subresource(client: Client) -> anyhow::Result<()> {
    let deployments = Api::<Deployment>::namespaced(client, "default");
    let _ = deployments.patch_subresource("scale", "a", &PatchParams::default(), &MERGE).await;
    Ok(())
}

/// update deployments.apps/status in default
pub async fn replace_subresource(client: Client) -> anyhow::Result<()> {
    let deployments = Api::<Deployment>::namespaced(client, "default");
    deployments.replace_subresource("status", "a", &PostParams::default(), &json!({})).await?;
    Ok(())
}

/// get pods/ephemeralcontainers in default
pub async fn get_ephemeral_containers(client: Client) -> anyhow::Result<()> {
    Api::<Pod>::namespaced(client, "default").get_ephemeral_containers("a").await?;
    Ok(())
}

/// patch pods/ephemeralcontainers in default
pub async fn patch_ephemeral_containers(client: Client) -> anyhow::Result<()> {
    let pods = Api::<Pod>::namespaced(client, "default");
    pods.patch_ephemeral_containers("a", &PatchParams::default(), &MERGE).await?;
    Ok(())
}

/// update pods/ephemeralcontainers in default
pub async fn replace_ephemeral_containers(client: Client) -> anyhow::Result<()> {
    let pods = Api::<Pod>::namespaced(client, "default");
    pods.replace_ephemeral_containers("a", &PostParams::default(), &Pod::default()).await?;
    Ok(())
}

/// get pods/resize in default
pub async fn get_resize(client: Client) -> anyhow::Result<()> {
    Api::<Pod>::namespaced(client, "default").get_resize("a").await?;
    Ok(())
}

/// patch pods/resize in default
pub async fn patch_resize(client: Client) -> anyhow::Result<()> {
    Api::<Pod>::namespaced(client, "default").patch_resize("a", &PatchParams::default(), &MERGE).await?;
    Ok(())
}

/// update pods/resize in default
pub async fn replace_resize(client: Client) -> anyhow::Result<()> {
    Api::<Pod>::namespaced(client, "default").replace_resize("a", &PostParams::default(), &Pod::default()).await?;
    Ok(())
}

/// get pods/log in default
pub async fn logs(client: Client) -> anyhow::Result<()> {
    Api::<Pod>::namespaced(client, "default").logs("a", &LogParams::default()).await?;
    Ok(())
}

/// get pods/log in default
pub async fn log_stream(client: Client) -> anyhow::Result<()> {
    let _lines = Api::<Pod>::namespaced(client, "default").log_stream("a", &LogParams::default()).await?;
    Ok(())
}

/// create pods/eviction in default
pub async fn evict(client: Client) -> anyhow::Result<()> {
    Api::<Pod>::namespaced(client, "default").evict("evicted", &EvictParams::default()).await?;
    Ok(())
}

/// create pods/attach in default
/// get pods/attach in default
pub async fn attach(client: Client) -> anyhow::Result<()> {
    let _ = Api::<Pod>::namespaced(client, "default").attach("a", &AttachParams::default()).await;
    Ok(())
}

/// create pods/exec in default
/// get pods/exec in default
pub async fn exec(client: Client) -> anyhow::Result<()> {
    let _ = Api::<Pod>::namespaced(client, "default").exec("a", ["ls"], &AttachParams::default()).await;
    Ok(())
}

/// create pods/portforward in default
/// get pods/portforward in default
pub async fn portforward(client: Client) -> anyhow::Result<()> {
    let _ = Api::<Pod>::namespaced(client, "default").portforward("a", &[80]).await;
    Ok(())
}

/// patch daemonsets.apps in default
pub async fn restart(client: Client) -> anyhow::Result<()> {
    Api::<DaemonSet>::namespaced(client, "default").restart("a").await?;
    Ok(())
}

/// patch nodes
pub async fn cordon(client: Client) -> anyhow::Result<()> {
    Api::<Node>::all(client).cordon("a").await?;
    Ok(())
}

/// patch nodes
pub async fn uncordon(client: Client) -> anyhow::Result<()> {
    Api::<Node>::all(client).uncordon("a").await?;
    Ok(())
}

/// create serviceaccounts/token in default
pub async fn create_token_request(client: Client) -> anyhow::Result<()> {
    let accounts = Api::<ServiceAccount>::namespaced(client, "default");
    accounts.create_token_request("a", &PostParams::default(), &TokenRequest::default()).await?;
    Ok(())
}

/// get certificatesigningrequests.certificates.k8s.io/approval
pub async fn get_approval(client: Client) -> anyhow::Result<()> {
    Api::<CertificateSigningRequest>::all(client).get_approval("a").await?;
    Ok(())
}

/// approve signers.certificates.k8s.io
/// patch certificatesigningrequests.certificates.k8s.io/approval
pub async fn patch_approval(client: Client) -> anyhow::Result<()> {
    let requests = Api::<CertificateSigningRequest>::all(client);
    requests.patch_approval("a", &PatchParams::default(), &Patch::Merge(json!({}))).await?;
    Ok(())
}
