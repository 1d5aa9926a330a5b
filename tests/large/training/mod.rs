//! Distributed training of models.

#[path = "job_types.rs"]
pub mod job;
#[path = "experiment_types.rs"]
pub mod experiment;

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    use kube::CustomResourceExt;
    vec![job::TrainingJob::crd(), experiment::Experiment::crd()]
}
