use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaRuleOfConstants")]
pub struct Spec {
    #[x_kube(validation = RULE)]
    pub x: u8,
    #[x_kube(validation = (concat!("self ", "!= 5"), MESSAGE))]
    pub y: u8,
}

const RULE: &str = "self != 5";
const MESSAGE: &str = "not five";
