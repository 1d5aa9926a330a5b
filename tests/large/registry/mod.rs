//! Mirrors of container images, and what is cleaned up in them.

pub mod v1alpha1 {
    pub mod cleanup;
    pub mod mirror;

    pub use cleanup::Cleanup;
    pub use mirror::Mirror;
}

pub mod v1beta1;

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    use kube::CustomResourceExt;
    use kube::core::crd::merge_crds;
    let mirrors = [v1alpha1::Mirror::crd(), v1beta1::Mirror::crd()];
    vec![merge_crds(mirrors.to_vec(), "v1alpha1").unwrap(), v1alpha1::Cleanup::crd()]
}
