use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ScalarsStr")]
pub struct Spec {
    pub boxed: Box<str>,
    pub shared: std::sync::Arc<str>,
    pub counted: std::rc::Rc<str>,
}
