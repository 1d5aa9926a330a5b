use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationBoundsOfOtherTypes")]
pub struct Spec {
    #[schemars(length(max = Limits::NAME))]
    pub name: String,
    #[schemars(range(max = inner::MOST))]
    pub count: u8,
}

pub struct Limits;

impl Limits {
    pub const NAME: usize = Self::WORD * 2;
    const WORD: usize = 16;
}

mod inner {
    pub const MOST: u8 = super::Limits::NAME as u8;
}
