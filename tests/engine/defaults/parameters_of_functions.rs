use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsParametersOfFunctions")]
pub struct Spec {
    #[serde(default = "number::<8080>")]
    pub port: u16,
    #[serde(default = "flag::<true>")]
    pub enabled: bool,
    #[serde(default = "made::<String>")]
    pub name: String,
    #[serde(default = "named")]
    pub width: usize,
    #[serde(default = "Fixed::<4>::new")]
    pub fixed: Fixed<4>,
    #[serde(default = "Vec::<u8>::new")]
    pub list: Vec<u8>,
}

/// Not what the parameters of the same name are.
#[allow(dead_code)]
const N: usize = 9;

const fn number<const N: u16>() -> u16 {
    N
}

fn flag<const B: bool>() -> bool {
    B
}

fn made<T: Default>() -> T {
    T::default()
}

const fn width<const N: usize>() -> usize {
    N
}

fn named() -> usize {
    width::<3>() + width::<{ N + 1 }>() + width::<N>()
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Fixed<const LENGTH: usize> {
    pub length: usize,
}

impl<const N: usize> Fixed<N> {
    const TWICE: usize = N * 2;

    fn new() -> Self {
        Self { length: Self::TWICE }
    }
}
