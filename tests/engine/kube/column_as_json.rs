use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeColumnAsJson", printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp","priority":2}"#)]
pub struct Spec {
    pub x: u8,
}
