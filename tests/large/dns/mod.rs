//! Zones and records of external name servers.

pub mod record;
pub mod zone;

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    use kube::core::crd::{CustomResourceExt, merge_crds};
    let zones = vec![zone::v1beta1::Zone::crd(), zone::v1::Zone::crd(), zone::v1alpha1::Zone::crd()];
    vec![merge_crds(zones, "v1alpha1").unwrap(), record::RecordSet::crd()]
}
