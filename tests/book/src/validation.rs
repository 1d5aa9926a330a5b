use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, ResourceExt};
use opctl_runtime::webhook::{Rejection, Request, Validating, Warnings, Webhook};

use crate::api::Memcached;

pub fn webhook() -> Webhook {
    Validating::new("/validate-cache-example-com-v1alpha1-memcached")
        .create(validate_create)
        .update(validate_update)
        .delete(validate_delete)
        .into()
}

async fn validate_create(object: &Memcached, request: &Request<Memcached>) -> Result<Warnings, Rejection> {
    let mut rejection = Rejection::default();
    let namespaces = Api::<Namespace>::all(request.ctx.client.clone());
    let namespace = namespaces.get(&object.namespace().unwrap_or_default()).await?;
    let is_free = namespace.labels().get("tier").is_some_and(|tier| tier == "free");
    if is_free && object.spec.size > 3 {
        rejection.invalid("spec.size", object.spec.size, "must be at most 3 in a free namespace");
    }
    rejection.or(match object.spec.size {
        1 => vec!["spec.size: one replica is not redundant".into()],
        _ => vec![],
    })
}

async fn validate_update(
    _old: &Memcached,
    object: &Memcached,
    request: &Request<Memcached>,
) -> Result<Warnings, Rejection> {
    validate_create(object, request).await
}

async fn validate_delete(_object: &Memcached, _request: &Request<Memcached>) -> Result<Warnings, Rejection> {
    Ok(vec![])
}
