use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsKubernetesLiterals")]
pub struct Spec {
    #[serde(default = "limits::d")]
    pub limits: k8s_openapi::api::core::v1::ResourceRequirements,
    #[serde(default = "selector::d")]
    pub selector: k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector,
}

mod limits {
    use k8s_openapi::api::core::v1::ResourceRequirements;
    use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
    use std::collections::BTreeMap;
    pub fn d() -> ResourceRequirements {
        ResourceRequirements {
            limits: Some(BTreeMap::from([("cpu".to_string(), Quantity("1".to_string()))])),
            ..Default::default()
        }
    }
}

mod selector {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
    pub fn d() -> LabelSelector {
        LabelSelector {
            match_labels: Some([("app".to_owned(), "x".to_owned())].into_iter().collect()),
            match_expressions: None,
        }
    }
}
