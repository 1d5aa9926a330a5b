//! Secrets from stores outside of the cluster. Generic where Go has `interface{}`.

mod external;
mod provider;
pub(crate) mod selectors;
mod store;

pub use external::ExternalSecret;
pub use store::{ClusterSecretStore, SecretStore};

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    use kube::CustomResourceExt;
    let mut crds = vec![ExternalSecret::crd()];
    crds.push(SecretStore::crd());
    crds.push(ClusterSecretStore::crd());
    crds
}
