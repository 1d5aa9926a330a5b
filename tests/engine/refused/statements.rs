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
    #[serde(default = "looped")]
    pub looped: Vec<u8>,
    #[serde(default = "pushed")]
    pub pushed: Vec<u8>,
    #[serde(default = "assigned")]
    pub assigned: u8,
    #[serde(default = "in_an_inner_block")]
    pub in_an_inner_block: Inner,
    #[serde(default = "lent")]
    pub lent: Inner,
    #[serde(default = "advanced")]
    pub advanced: Vec<u8>,
    #[serde(default = "shown_in_a_closure")]
    pub shown_in_a_closure: String,
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

fn looped() -> Vec<u8> {
    let mut list = Vec::new();
    for n in [1, 2] {
        list.push(n);
    }
    list
}

fn pushed() -> Vec<u8> {
    let mut list = vec![1];
    list.push(2);
    list
}

fn assigned() -> u8 {
    let mut n = 1u8;
    n = 2;
    n
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    n: u8,
}

fn in_an_inner_block() -> Inner {
    let mut inner = Inner::default();
    if inner.n == 0 {
        inner.n = 3;
    }
    inner
}

fn change(inner: &mut Inner) {
    inner.n = 4;
}

fn lent() -> Inner {
    let mut inner = Inner::default();
    change(&mut inner);
    inner
}

fn advanced() -> Vec<u8> {
    let mut list = [1, 2, 3].into_iter();
    let _one = list.find(|n| *n == 1);
    list.collect()
}

struct Shown;

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let _never = [1].iter().map(|n| write!(f, "{n}"));
        write!(f, "shown")
    }
}

fn shown_in_a_closure() -> String {
    Shown.to_string()
}
