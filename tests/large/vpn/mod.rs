//! Tunnels between sites. Addresses are types of their own, with schemas by hand, so that a wrong one is refused early.

pub mod net;
pub mod peer;
pub mod tunnel;

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    use kube::CustomResourceExt as _;
    vec![tunnel::Tunnel::crd(), peer::Peer::crd()]
}
