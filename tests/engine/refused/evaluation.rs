use std::collections::{BTreeMap, BinaryHeap, HashMap};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Evaluation")]
pub struct EvaluationSpec {
    #[serde(default = "attribute")]
    pub attribute: Vec<i32>,
    #[serde(default = "exclusive")]
    pub exclusive: Vec<i32>,
    #[serde(default = "heap")]
    pub heap: Vec<i32>,
    #[serde(default = "random")]
    pub random: Vec<(String, i32)>,
    #[serde(default = "made")]
    pub made: u8,
    #[serde(default = "of_a_trait")]
    pub of_a_trait: Vec<i32>,
    #[serde(default = "m::list")]
    pub own_macro: Vec<i32>,
    #[serde(default = "untyped")]
    pub untyped: i64,
    #[serde(default = "width")]
    pub width: String,
    #[serde(default = "twice")]
    pub twice: i64,
    #[serde(default = "cloned")]
    pub cloned: ByHand,
    #[serde(default, skip_serializing_if = "Own::is_empty")]
    pub skipped: BTreeMap<String, u8>,
}

fn attribute() -> Vec<i32> {
    [
        #[cfg(feature = "off")]
        1,
        2,
    ]
    .to_vec()
}

fn exclusive() -> Vec<i32> {
    let mut list = vec![1];
    let same = &mut list;
    same.push(2);
    list
}

fn heap() -> Vec<i32> {
    BinaryHeap::from([1, 3]).into_iter().collect()
}

fn random() -> Vec<(String, i32)> {
    HashMap::from([("a".to_string(), 1), ("b".to_string(), 2)]).into_iter().collect()
}

mod g {
    pub const N: u8 = 1;
}

use g::*;

macro_rules! constant {
    () => {
        const N: u8 = 2;
    };
}

constant!();

fn made() -> u8 {
    N
}

trait Own {
    fn to_vec(self) -> Vec<i32>;
    fn is_empty(&self) -> bool;
}

impl Own for BTreeMap<String, u8> {
    fn to_vec(self) -> Vec<i32> {
        Vec::new()
    }

    fn is_empty(&self) -> bool {
        false
    }
}

impl Own for Vec<i32> {
    fn to_vec(mut self) -> Vec<i32> {
        self.push(5);
        self
    }

    fn is_empty(&self) -> bool {
        false
    }
}

fn of_a_trait() -> Vec<i32> {
    vec![1].to_vec()
}

mod m {
    macro_rules! concat {
        ($($x:expr),*) => { [$($x + 10),*] };
    }

    pub fn list() -> Vec<i32> {
        Vec::from(concat!(1, 2))
    }
}

fn untyped() -> i64 {
    (1 << 31) as i64
}

fn width() -> String {
    format!("{:>5}", 1)
}

fn twice() -> i64 {
    let number = 200;
    let narrow: u8 = number;
    (number << 1) as i64 + narrow as i64
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ByHand(u8);

impl Clone for ByHand {
    fn clone(&self) -> Self {
        Self(9)
    }
}

fn cloned() -> ByHand {
    ByHand(1).clone()
}
