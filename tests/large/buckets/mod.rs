//! Resources of a cloud: what all have in common is generic, and laid into each.

pub mod aws;
pub mod managed;

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    use kube::CustomResourceExt;
    vec![aws::s3::Bucket::crd(), aws::sqs::Queue::crd(), managed::ProviderConfig::crd()]
}
