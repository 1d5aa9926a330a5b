//! Traffic between services. Types are nested where Go nests them, one module a message.

pub mod destination_rule;
pub mod virtual_service;
pub mod wire;

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    use kube::CustomResourceExt as Ext;
    vec![<virtual_service::VirtualService as Ext>::crd(), <destination_rule::DestinationRule as Ext>::crd()]
}
