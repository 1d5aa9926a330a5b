use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsIteratorsOfStd")]
pub struct Spec {
    #[serde(default = "chunks::d")]
    pub chunks: Vec<u32>,
    #[serde(default = "windows::d")]
    pub windows: Vec<u32>,
    #[serde(default = "successors::d")]
    pub successors: String,
    #[serde(default = "sides::d")]
    pub sides: String,
    #[serde(default = "reduced::d")]
    pub reduced: u32,
    #[serde(default = "ended::d")]
    pub ended: Vec<u32>,
    #[serde(default = "all_or_none::d")]
    pub all_or_none: Option<Vec<u32>>,
    #[serde(default = "all_or_error::d")]
    pub all_or_error: Vec<u32>,
    #[serde(default = "largest::d")]
    pub largest: String,
    #[serde(default = "sets::d")]
    pub sets: Vec<String>,
    #[serde(default = "from_index::d")]
    pub from_index: [u8; 3],
}

mod chunks {
    pub fn d() -> Vec<u32> {
        [1u32, 2, 3, 4, 5].chunks(2).map(|c| c.iter().sum()).collect()
    }
}

mod windows {
    pub fn d() -> Vec<u32> {
        [1u32, 2, 3, 4, 5].windows(2).map(|w| w[0] + w[1]).collect()
    }
}

mod successors {
    pub fn d() -> String {
        std::iter::successors(Some(1u64), |n| n.checked_mul(10))
            .take(4)
            .map(|n| n.to_string())
            .collect::<Vec<_>>()
            .join(",")
    }
}

mod sides {
    pub fn d() -> String {
        let (a, b): (Vec<u32>, Vec<u32>) = [(1, 2), (3, 4)].into_iter().unzip();
        let (e, o): (Vec<_>, Vec<_>) = (1..=4).partition(|x| x % 2 == 0);
        format!("{a:?}{b:?}{e:?}{o:?}")
    }
}

mod reduced {
    pub fn d() -> u32 {
        (1..=4).reduce(|a, b| a * b).unwrap()
            + [5, 6].iter().rposition(|x| *x == 5).unwrap() as u32
            + (1..10).find_map(|x| (x * x > 20).then_some(x)).unwrap()
    }
}

mod ended {
    pub fn d() -> Vec<u32> {
        [3, 2, 0, 5].iter().map_while(|x| if *x > 0 { Some(x * 2) } else { None }).collect()
    }
}

mod all_or_none {
    pub fn d() -> Option<Vec<u32>> {
        vec![Some(1), None, Some(3)].into_iter().collect()
    }
}

mod all_or_error {
    pub fn d() -> Vec<u32> {
        ["1", "2"].iter().map(|s| s.parse::<u32>()).collect::<Result<Vec<_>, _>>().unwrap_or_default()
    }
}

mod largest {
    pub fn d() -> String {
        let m = ["aa", "b", "cc"].iter().max_by_key(|s| s.len()).unwrap();
        let n = ["aa", "b", "c"].iter().min_by_key(|s| s.len()).unwrap();
        format!("{m}{n}")
    }
}

mod sets {
    use std::collections::BTreeSet;
    pub fn d() -> Vec<String> {
        let a = BTreeSet::from(["x", "y"]);
        let b = BTreeSet::from(["y", "z"]);
        a.union(&b).chain(a.difference(&b)).map(|s| s.to_string()).collect()
    }
}

mod from_index {
    pub fn d() -> [u8; 3] {
        std::array::from_fn(|i| (i * 2) as u8)
    }
}
