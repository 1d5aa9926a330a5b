//! Self-hosted CI runners, scaled by demand. Written with `KubeSchema` throughout: rules go into the schema.

mod autoscaler;
mod runner;
pub mod scale;

pub use autoscaler::{RunnerAutoscaler, RunnerAutoscalerSpec};
pub use runner::{RunnerSet, RunnerSetSpec, RunnerSetStatus};

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    vec![
        <RunnerSet as kube::CustomResourceExt>::crd(),
        <RunnerAutoscaler as kube::CustomResourceExt>::crd(),
    ]
}
