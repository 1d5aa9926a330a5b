use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaMapMerge")]
pub struct Spec {
    #[x_kube(merge_strategy = MapMerge::Atomic)]
    pub atomic: BTreeMap<String, String>,
    #[x_kube(merge_strategy = MapMerge::Granular)]
    pub granular: BTreeMap<String, String>,
}
