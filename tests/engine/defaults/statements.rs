//! Loops, assignments, blocks that are left early.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsStatements")]
pub struct Spec {
    #[serde(default = "names")]
    pub names: Vec<String>,
    #[serde(default = "fibonacci")]
    pub fibonacci: Vec<u64>,
    #[serde(default = "collatz")]
    pub collatz: u32,
    #[serde(default = "grid")]
    pub grid: Vec<(i32, i32)>,
    #[serde(default = "found")]
    pub found: Option<u8>,
    #[serde(default = "shadowed")]
    pub shadowed: i64,
    #[serde(default = "counted")]
    pub counted: BTreeMap<String, u8>,
    #[serde(default = "untyped")]
    pub untyped: u16,
    #[serde(default)]
    pub built: Built,
}

fn names() -> Vec<String> {
    let mut names = Vec::new();
    for i in 0..3 {
        if i == 1 {
            continue;
        }
        names.push(format!("node-{i}"));
    }
    names
}

fn fibonacci() -> Vec<u64> {
    let (mut a, mut b) = (0, 1);
    let mut all = vec![a];
    while all.len() < 8 {
        (a, b) = (b, a + b);
        all.push(a);
    }
    all
}

fn collatz() -> u32 {
    let mut n = 7u32;
    let mut steps = 0;
    loop {
        if n == 1 {
            break steps;
        }
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
}

fn grid() -> Vec<(i32, i32)> {
    let mut grid = vec![];
    'rows: for x in -1..=1 {
        for y in [3, 4] {
            if x * y == 0 {
                continue 'rows;
            }
            if x > 0 && y > 3 {
                break 'rows;
            }
            grid.push((x, y));
        }
    }
    grid
}

fn found() -> Option<u8> {
    let list = [3u8, 8, 12];
    let first = list.first()?;
    for n in list.iter().rev() {
        if n % 4 == 0 {
            return Some(*n - first);
        }
    }
    None
}

fn shadowed() -> i64 {
    let mut n = 1;
    {
        n += 10;
        let n = 50;
        let _ = n;
    }
    let m;
    if n > 10 {
        let mut n = n;
        n *= 2;
        m = n;
    } else {
        m = 0;
    }
    n * 100 + m
}

fn counted() -> BTreeMap<String, u8> {
    let mut counted = BTreeMap::new();
    for word in ["b", "a", "b"] {
        let before = counted.get(word).copied().unwrap_or(0);
        counted.insert(word.to_string(), before + 1);
    }
    counted
}

fn untyped() -> u16 {
    let base = 100;
    let mut sum = 0;
    for part in [base, 27] {
        sum += part;
    }
    sum * 300
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Built {
    pub size: u32,
    pub list: [u8; 3],
    pub parts: Vec<String>,
}

impl Built {
    fn new() -> Self {
        Self { size: 1, list: [0; 3], parts: Vec::new() }
    }

    fn with(mut self, part: &str) -> Self {
        self.parts.push(part.to_string());
        self.size <<= 1;
        self
    }
}

impl Default for Built {
    fn default() -> Self {
        let mut built = Self::new().with("a").with("b");
        for i in 0..built.list.len() {
            built.list[i] = i as u8 * 2;
        }
        built.parts[0] += "!";
        built
    }
}
