use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsVariantsBeforeItems")]
pub struct Spec {
    #[serde(default = "constant")]
    pub constant: Plain,
    #[serde(default = "function")]
    pub function: Holding,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Plain {
    A,
    B,
}

#[allow(dead_code, non_upper_case_globals)]
impl Plain {
    const A: Plain = Plain::B;
}

fn constant() -> Plain {
    Plain::A
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Holding {
    A(u8),
    B(u8),
}

#[allow(dead_code, non_snake_case)]
impl Holding {
    fn A(number: u8) -> Holding {
        Holding::B(number)
    }
}

fn function() -> Holding {
    Holding::A(3)
}
