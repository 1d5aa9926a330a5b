use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationByValidate")]
pub struct Spec {
    #[validate(length(min = 1, max = "MOST"))]
    pub text: String,
    #[validate(range(min = 1.0, max = 2.0))]
    pub ratio: f64,
    #[validate(email)]
    pub mail: String,
    #[validate(url(message = "no"))]
    pub link: String,
    #[validate(required)]
    pub needed: Option<u8>,
    #[validate(contains(pattern = "a"))]
    pub contains: String,
}

const MOST: usize = 7;

#[allow(dead_code)]
type Unused = ();
