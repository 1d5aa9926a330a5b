//! Webhooks, which may ask the API server as well.

use k8s_openapi::api::core::v1::{ConfigMap, PodTemplate, Secret};
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use opctl_runtime::Runnable;
use opctl_runtime::webhook::{self, Defaulting, Rejection, Request, Validating, Warnings, Webhook};

pub fn server() -> Runnable {
    webhook::server(all())
}

fn all() -> Vec<Webhook> {
    let validating = Validating::new("/validate").create(validate_create).update(validate_update).delete(validate_delete);
    vec![Defaulting::new("/mutate", default).into(), validating.into(), super::conversions::webhook()]
}

async fn default(object: &mut ConfigMap, request: &Request<ConfigMap>) -> Result<(), Rejection> {
    let secrets = Api::<Secret>::namespaced(request.ctx.client.clone(), &request.ctx.operator.name);
    let _ = secrets.get(&object.name_any()).await;
    Ok(())
}

async fn validate_create(object: &ConfigMap, request: &Request<ConfigMap>) -> Result<Warnings, Rejection> {
    let _ = request.ctx.api::<PodTemplate>().list(&ListParams::default()).await;
    let namespace = object.namespace().unwrap_or_default();
    let others = Api::<ConfigMap>::namespaced(request.ctx.client.clone(), &namespace);
    match others.list_metadata(&ListParams::default()).await {
        Ok(others) => Ok(others.iter().map(ResourceExt::name_any).collect()),
        Err(_) => Ok(Warnings::new()),
    }
}

async fn validate_update(_: &ConfigMap, object: &ConfigMap, request: &Request<ConfigMap>) -> Result<Warnings, Rejection> {
    validate_create(object, request).await
}

async fn validate_delete(_: &ConfigMap, _: &Request<ConfigMap>) -> Result<Warnings, Rejection> {
    Ok(Warnings::new())
}
