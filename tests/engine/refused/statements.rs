use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Changes that reach a value by another name, and numbers whose type decides.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "RefusedStatements")]
pub struct Spec {
    #[serde(default = "by_closure")]
    pub by_closure: u8,
    #[serde(default = "by_operator")]
    pub by_operator: u8,
    #[serde(default = "negative")]
    pub negative: bool,
    #[serde(default = "too_large")]
    pub too_large: bool,
    #[serde(default = "endless")]
    pub endless: u8,
    #[serde(default = "recursive_item")]
    pub recursive_item: u8,
    #[serde(default = "imported")]
    pub imported: u8,
    #[serde(default = "hashed")]
    pub hashed: Vec<u8>,
}

fn by_closure() -> u8 {
    let mut n = 1;
    let mut add = |by| n += by;
    add(2);
    n
}

#[derive(Clone, Copy)]
struct Own(u8);

impl std::ops::AddAssign<u8> for Own {
    fn add_assign(&mut self, by: u8) {
        self.0 = by * 9;
    }
}

fn by_operator() -> u8 {
    let mut own = Own(1);
    own += 2;
    own.0
}

fn negative() -> bool {
    let n = 3;
    n - 4 < 0
}

fn too_large() -> bool {
    let n = 100;
    n + 100 > 0
}

fn endless() -> u8 {
    let mut n = 0u8;
    loop {
        n ^= 1;
        if n > 1 {
            return n;
        }
    }
}

fn down(n: u8) -> u8 {
    n + 100
}

fn recursive_item() -> u8 {
    fn down(n: u8) -> u8 {
        if n == 0 { 0 } else { down(n - 1) + 1 }
    }
    down(5)
}

mod other {
    pub const LIMIT: u8 = 9;
}

const LIMIT: u8 = 1;

fn imported() -> u8 {
    use other::LIMIT;
    LIMIT
}

fn hashed() -> Vec<u8> {
    let map = std::collections::HashMap::from([(1, 2), (3, 4)]);
    let mut list = Vec::new();
    for (key, value) in &map {
        list.push(key * value);
    }
    list
}
