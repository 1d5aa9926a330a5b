//! Every Pod is marked.

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use opctl_runtime::webhook::{Defaulting, Rejection, Request, Webhook};

pub fn webhook() -> Webhook {
    Defaulting::new("/mutate--v1-pod", default).into()
}

// +kubebuilder:webhook:mutating=true,path=/mutate--v1-pod,failurePolicy=fail,sideEffects=None,\
//     groups=core,resources=pods,verbs=create,versions=v1,\
//     name=mpod-v1.core.example.com,admissionReviewVersions=v1,\
//     patch=`{"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["kube-system","shop-system"]}]}}`
async fn default(object: &mut Pod, _request: &Request<Pod>) -> Result<(), Rejection> {
    let mark = object.labels_mut().entry("example.com/marked".into());
    mark.or_insert("yes".to_owned());
    Ok(())
}
