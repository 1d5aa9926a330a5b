//! Validates a `Backup` before it is stored, changed or deleted.

use std::time::Duration;

use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, ResourceExt};
use opctl_runtime::webhook::{Rejection, Request, Validating, Warnings, Webhook};
use tokio::time::sleep;

use super::v1::Backup;

pub fn webhook() -> Webhook {
    Validating::new("/validate-cache-example-com-v1-backup")
        .create(validate_create)
        .update(validate_update)
        .delete(validate_delete)
        .into()
}

// +kubebuilder:webhook:mutating=false,path=/validate-cache-example-com-v1-backup,failurePolicy=fail,sideEffects=None,\
//     groups=cache.example.com,resources=backups,verbs=create;update;delete,versions=v1,timeoutSeconds=2,\
//     name=vbackup-v1.cache.example.com,admissionReviewVersions=v1
// +kubebuilder:rbac:groups=core,resources=namespaces,verbs=get
async fn validate_create(object: &Backup, request: &Request<Backup>) -> Result<Warnings, Rejection> {
    // For tests of the API server's reaction.
    match object.annotations().get("example.com/test").map(|it| &**it) {
        Some("slow") => sleep(Duration::from_secs(6)).await,
        Some("panic") => panic!("nobody knows why"),
        _ => {}
    }
    let mut rejection = Rejection::default();
    for (place, target) in object.spec.targets.iter().enumerate() {
        if target.bucket.is_empty() {
            rejection.required(&format!("spec.targets[{place}].bucket"), "say where to");
        }
    }
    let copies = object.spec.copies.unwrap_or_default();
    if copies > 5 {
        rejection.invalid("spec.copies", copies, "must be at most 5");
    }
    if copies > 3 && is_free(object, request).await? {
        rejection.invalid("spec.copies", copies, "must be at most 3 in a free namespace");
    }
    let warnings = match copies {
        1 => vec!["spec.copies: one is none".to_owned()],
        _ => vec![],
    };
    rejection.or(warnings)
}

/// `true` if the namespace has the label `tier=free`.
async fn is_free(object: &Backup, request: &Request<Backup>) -> Result<bool, Rejection> {
    let namespaces = Api::<Namespace>::all(request.ctx.client.clone());
    let namespace = namespaces.get(&object.namespace().unwrap_or_default()).await?;
    Ok(namespace.labels().get("tier").is_some_and(|tier| tier == "free"))
}

async fn validate_update(old: &Backup, object: &Backup, request: &Request<Backup>) -> Result<Warnings, Rejection> {
    let mut rejection = Rejection::default();
    if old.spec.storage_class != object.spec.storage_class {
        rejection.forbidden("spec.storageClass", "it cannot be changed");
    }
    rejection.or(validate_create(object, request).await?)
}

async fn validate_delete(object: &Backup, _request: &Request<Backup>) -> Result<Warnings, Rejection> {
    let mut rejection = Rejection::default();
    if object.annotations().contains_key("example.com/keep") {
        rejection.forbidden("metadata.annotations[example.com/keep]", "remove it first");
    }
    rejection.or(vec!["the copies stay".to_owned()])
}
