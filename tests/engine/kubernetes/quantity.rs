use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubernetesQuantity")]
pub struct Spec {
    pub memory: Quantity,
    pub maybe: Option<Quantity>,
    pub map: std::collections::BTreeMap<String, Quantity>,
}
