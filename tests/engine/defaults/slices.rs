use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsSlices")]
pub struct Spec {
    #[serde(default = "rest::d")]
    pub rest: u32,
    #[serde(default = "middle::d")]
    pub middle: u32,
    #[serde(default = "owned_rest::d")]
    pub owned_rest: Vec<u32>,
    #[serde(default = "matched::d")]
    pub matched: String,
    #[serde(default = "summed::d")]
    pub summed: u32,
    #[serde(default = "moved::d")]
    pub moved: Vec<u32>,
}

mod rest {
    pub fn d() -> u32 {
        let v = [1, 2, 3, 4];
        if let [a, rest @ ..] = &v[..] { a + rest.len() as u32 } else { 0 }
    }
}

mod middle {
    pub fn d() -> u32 {
        match [1, 2, 3, 4].as_slice() {
            [first, middle @ .., last] => first * 100 + middle.len() as u32 * 10 + last,
            _ => 0,
        }
    }
}

mod owned_rest {
    pub fn d() -> Vec<u32> {
        let [a, rest @ ..] = [1u32, 2, 3];
        [&rest[..], &[a]].concat()
    }
}

mod matched {
    pub fn d() -> String {
        let v: Vec<&str> = "a b c d".split(' ').collect();
        match &v[..] {
            [a, b, ..] if a == b => "same".into(),
            [.., y, z] => format!("{y}{z}"),
            _ => String::new(),
        }
    }
}

mod summed {
    fn sum(v: &[u32]) -> u32 {
        match v {
            [] => 0,
            [x, rest @ ..] => x + sum(rest),
        }
    }
    pub fn d() -> u32 {
        sum(&[1, 2, 3, 4])
    }
}

mod moved {
    pub fn d() -> Vec<u32> {
        let v = vec![1, 2, 3, 4, 5];
        let (a, b) = v.split_at(2);
        [b, a].concat()
    }
}
