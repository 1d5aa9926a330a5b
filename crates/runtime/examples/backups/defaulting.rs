//! Sets the missing fields of a `Backup` before it is stored.

use kube::ResourceExt;
use opctl_runtime::webhook::{Defaulting, Rejection, Request, Webhook};

use super::v1::Backup;

pub fn webhook() -> Webhook {
    Defaulting::new("/mutate-cache-example-com-v1-backup", default).into()
}

// +kubebuilder:webhook:mutating=true,path=/mutate-cache-example-com-v1-backup,failurePolicy=fail,sideEffects=None,\
//     groups=cache.example.com,resources=backups,verbs=create;update,versions=v1,\
//     name=mbackup-v1.cache.example.com,admissionReviewVersions=v1
async fn default(object: &mut Backup, request: &Request<Backup>) -> Result<(), Rejection> {
    object.spec.copies.get_or_insert(3);
    let user = request.review.user_info.username.clone();
    let owner = object.annotations_mut().entry("example.com/owner".into());
    owner.or_insert(user.unwrap_or_default());
    Ok(())
}
