//! Between the versions: what `v1` cannot say of a `v1alpha1` object is left out.

use k8s_openapi::api::core::v1::{PersistentVolumeClaimSpec, VolumeResourceRequirements};

use super::{v1, v1alpha1};

impl From<v1alpha1::PostgresSpec> for v1::PostgresSpec {
    fn from(old: v1alpha1::PostgresSpec) -> Self {
        let requests = [("storage".to_string(), old.storage)].into();
        Self {
            version: old.version,
            instances: old.instances,
            storage: PersistentVolumeClaimSpec {
                storage_class_name: old.storage_class,
                resources: Some(VolumeResourceRequirements { requests: Some(requests), ..Default::default() }),
                ..Default::default()
            },
            parameters: old.parameters,
            replication: v1::cluster::Replication {
                mode: if old.synchronous { v1::ReplicationMode::Quorum } else { v1::ReplicationMode::Async },
                ..Default::default()
            },
            scheduling: v1::cluster::Scheduling {
                resources: old.resources,
                affinity: old.affinity,
                tolerations: old.tolerations,
                ..Default::default()
            },
            superuser_secret: None,
            databases: Vec::new(),
            backup: None,
            env: Vec::new(),
        }
    }
}

impl From<v1alpha1::PostgresStatus> for v1::PostgresStatus {
    fn from(old: v1alpha1::PostgresStatus) -> Self {
        let ready = old.ready.and_then(|ready| ready.split('/').next()?.parse().ok());
        Self { ready_instances: ready.unwrap_or(0), primary: old.primary, ..Self::default() }
    }
}
