use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationRangeOfExpressions")]
pub struct Spec {
    #[schemars(range(min = -(1 << 3), max = u16::MAX))]
    pub computed: i64,
    #[schemars(range(min = 1_000, max = 0xff_ff))]
    pub literals: i64,
    #[schemars(range(max = i64::MAX))]
    pub large: i64,
    #[schemars(range(max = 10.0_f32))]
    pub suffix: f32,
    #[schemars(range(min = MIN, max = (MIN + 2) * 3 % 100))]
    pub constants: i32,
    #[schemars(range(max = LIMIT as i64))]
    pub cast: i64,
    #[schemars(range(max = Self::MOST))]
    pub associated: i64,
}

const MIN: i32 = 4 - 1;
pub const LIMIT: u8 = b'z';

impl Spec {
    pub const MOST: u8 = 7;
}
