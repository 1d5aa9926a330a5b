//! Search clusters: sets of nodes with any configuration, and the Kibana-like frontend beside them.

mod cluster;
mod common;
mod dashboard;

pub use cluster::Search;
pub use dashboard::Dashboard;

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    use kube::CustomResourceExt;
    vec![Search::crd(), Dashboard::crd()]
}
