//! Scrapes, rules and the servers that evaluate them. Types of the group live below `apis`, one folder a version.

pub mod apis;

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    use apis::monitoring::{v1, v1alpha1};
    use kube::CustomResourceExt;
    vec![v1::ServiceMonitor::crd(), v1::PrometheusRule::crd(), v1alpha1::AlertRoute::crd(), v1::Prometheus::crd()]
}
