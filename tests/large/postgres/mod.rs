//! A database operator that has had one breaking change: `v1alpha1` is what etcd holds, `v1` is what people write.

pub mod convert;
pub mod v1;
pub mod v1alpha1;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use kube::core::crd::merge_crds;

pub fn crds() -> Vec<CustomResourceDefinition> {
    let clusters = vec![v1alpha1::Postgres::crd(), v1::cluster::Postgres::crd()];
    vec![merge_crds(clusters, "v1alpha1").unwrap(), v1::pooler::Pooler::crd()]
}
