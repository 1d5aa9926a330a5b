//! Backup and restore of namespaces. The older kinds are all in one file, as they were written in a hurry.

mod hooks;
pub mod location;
pub mod types;

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    use kube::CustomResourceExt;
    vec![
        types::Backup::crd(),
        types::Restore::crd(),
        types::Schedule::crd(),
        location::BackupStorageLocation::crd(),
    ]
}
