//! Code below markers. A marker ends where the page does.

use k8s_openapi::api::core::v1::Pod;
use kube::api::EvictParams;
use kube::{Api, Error};
use opctl_runtime::webhook::{Rejection, Request, Warnings};

use crate::api::Memcached;

// +opctl:allow:OP415 granted by the role of the platform team
pub async fn evict(pods: &Api<Pod>, name: &str) -> Result<(), Error> {
    pods.evict(name, &EvictParams::default()).await.map(drop)
}

// +kubebuilder:webhook:mutating=false,path=/validate-cache-example-com-v1-memcached,failurePolicy=fail,sideEffects=None,\
//     groups=cache.example.com,resources=memcacheds,verbs=create;update,versions=v1,\
//     name=vmemcached-v1.kb.io,admissionReviewVersions=v1
pub async fn validate_create(object: &Memcached, request: &Request<Memcached>) -> Result<Warnings, Rejection> {
    let _ = (object, request);
    Ok(vec![])
}

// +kubebuilder:webhook:mutating=true,path=/mutate--v1-pod,failurePolicy=ignore,sideEffects=None,groups=core,resources=pods,\
//     verbs=create,versions=v1,name=mpod.kb.io,admissionReviewVersions=v1,\
//     patch=`{"namespaceSelector":{"matchLabels":{"shop":"yes"}},\
//             "matchConditions":[{"name":"labelled","expression":"has(object.metadata.labels)"}]}`

// src/webhook/mod.rs
// +opctl:ca:certificate=serving-cert
