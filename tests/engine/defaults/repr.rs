use kube::CustomResource;
use schemars::{JsonSchema, JsonSchema_repr};
use serde::{Deserialize, Serialize};
use serde_repr::{Deserialize_repr, Serialize_repr};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsRepr")]
pub struct Spec {
    #[serde(default)]
    pub strength: Strength,
    #[serde(default = "descending")]
    pub directions: Vec<Direction>,
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub none: Option<Direction>,
}

#[derive(Clone, Debug, Default, Deserialize_repr, Serialize_repr, JsonSchema_repr)]
#[repr(u8)]
pub enum Strength {
    Primary = 1,
    Secondary,
    #[default]
    Tertiary,
}

#[derive(Clone, Debug, Deserialize_repr, Serialize_repr, JsonSchema_repr)]
#[repr(i32)]
pub enum Direction {
    Ascending = 1,
    Descending = -1,
}

fn descending() -> Vec<Direction> {
    vec![Direction::Descending, Direction::Ascending]
}

fn none() -> Option<Direction> {
    None
}
