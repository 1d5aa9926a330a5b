//! Realms, clients and groups of an identity provider. Kinds say their fields at the root, as built-in kinds do.

mod client;
mod group;
mod realm;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition as Crd;

/// The prefix of what is changed by others.
pub const PREFIX: &str = "iam.example.id";

pub fn crds() -> Vec<Crd> {
    use kube::CustomResourceExt;
    vec![realm::Realm::crd(), client::OAuthClient::crd(), group::Group::crd()]
}
