//! Labels every Pod, except those of the operator and of Kubernetes itself, which must start while the operator is
//! down.

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use opctl_runtime::webhook::{Defaulting, Rejection, Request, Webhook};

pub fn webhook() -> Webhook {
    Defaulting::new("/mutate--v1-pod", default).into()
}

async fn default(object: &mut Pod, _request: &Request<Pod>) -> Result<(), Rejection> {
    let mark = object.labels_mut().entry("example.com/marked".into());
    mark.or_insert("yes".to_owned());
    Ok(())
}
