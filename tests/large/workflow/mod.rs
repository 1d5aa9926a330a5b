pub mod model;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

/// In the order in which they are installed.
pub fn crds() -> Vec<CustomResourceDefinition> {
    [<model::WorkflowTemplate as kube::CustomResourceExt>::crd, <model::Workflow as kube::CustomResourceExt>::crd]
        .into_iter()
        .map(|crd| crd())
        .collect()
}
