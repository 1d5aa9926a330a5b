use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaListMerge")]
pub struct Spec {
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub atomic: Vec<u8>,
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub set: Vec<String>,
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into(), "name".to_string()]))]
    pub map: Vec<Inner>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub r#type: String,
    pub name: String,
}
