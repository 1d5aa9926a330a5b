//! Bounds in the source, a rule at the field or above it: all of them limit a `u32`.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "bounded.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[schemars(range(max = 100))]
    a: Option<u32>,
    #[schemars(range(max = u32::MAX))]
    b: Option<u32>,
    #[schemars(extend("maximum" = 7))]
    c: Option<u32>,
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self <= 10"}]))]
    d: Option<u32>,
    e: Option<Pair>,
    #[schemars(inner(range(max = 100)))]
    f: Option<Vec<u32>>,
    #[schemars(extend("enum" = [1, 2, null]))]
    g: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = [{"rule": "self.least <= self.most && self.most <= 100"}]))]
struct Pair {
    least: u32,
    most: u32,
}
