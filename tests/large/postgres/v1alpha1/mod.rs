use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Affinity, ResourceRequirements, Toleration};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A PostgreSQL cluster with one primary and any number of standbys.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "postgres.acme.io",
    version = "v1alpha1",
    kind = "Postgres",
    plural = "postgreses",
    shortname = "pg",
    category = "databases",
    namespaced,
    status = "PostgresStatus",
    deprecated = "postgres.acme.io/v1alpha1 Postgres is deprecated; use v1",
    printcolumn = r#"{"name":"Version","type":"integer","jsonPath":".spec.version"}"#,
    printcolumn = r#"{"name":"Ready","type":"string","jsonPath":".status.ready"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct PostgresSpec {
    /// Major version.
    #[schemars(range(min = 13, max = 17))]
    pub version: u8,
    #[serde(default = "one")]
    pub instances: i32,
    /// Size of each volume.
    pub storage: Quantity,
    pub storage_class: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    #[serde(default)]
    pub resources: ResourceRequirements,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Affinity>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    #[serde(default)]
    pub synchronous: bool,
}

fn one() -> i32 {
    1
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct PostgresStatus {
    /// `2/3`
    pub ready: Option<String>,
    pub primary: Option<String>,
}
