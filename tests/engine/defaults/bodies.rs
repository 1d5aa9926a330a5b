//! Constants, closures and `return` in a body, and what iterators, options, results and texts do with them.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsBodies")]
pub struct Spec {
    #[serde(default = "items")]
    pub items: u32,
    #[serde(default = "closures")]
    pub closures: Vec<i32>,
    #[serde(default = "words")]
    pub words: Vec<String>,
    #[serde(default = "parsed")]
    pub parsed: (u8, i32, f32, bool),
    #[serde(default = "checked")]
    pub checked: Vec<u8>,
    #[serde(default = "formats")]
    pub formats: Vec<String>,
    #[serde(default = "slices")]
    pub slices: Vec<u8>,
    #[serde(default = "options")]
    pub options: Option<u16>,
}

const BASE: u32 = 1;

fn items() -> u32 {
    const BASE: u32 = 40;
    const STEP: u32 = 2;
    const SUM: u32 = BASE + STEP;
    SUM + of_the_crate()
}

fn of_the_crate() -> u32 {
    BASE
}

fn closures() -> Vec<i32> {
    let offset = 10;
    let add = move |n| n + offset;
    let list: Vec<i32> = (0..6).filter(|n| n % 2 == 0).map(add).collect();
    list.into_iter().chain([offset, 7].iter().zip([1, 2]).map(|(a, b)| a * b)).collect()
}

fn words() -> Vec<String> {
    "b-a--c".split('-').filter(|word| !word.is_empty()).enumerate().map(|(i, word)| word.repeat(i + 1)).collect()
}

fn parsed() -> (u8, i32, f32, bool) {
    let fits = "300".parse::<u8>().is_ok();
    ("-0".parse().unwrap_or(9), "-7".parse::<i32>().unwrap() * 2, "0.1".parse().unwrap(), fits)
}

fn limit(n: u8) -> Result<u8, String> {
    if n > 3 {
        return Err(format!("{n} is too large"));
    }
    Ok(n * 10)
}

fn checked() -> Vec<u8> {
    let all = [250u8.saturating_add(9), 250u8.wrapping_add(9), 9u8.checked_sub(10).unwrap_or(77)];
    let limited = [3, 4].map(|n| match limit(n) {
        Ok(n) => n,
        Err(_) => u8::try_from(70_000).unwrap_or(n),
    });
    [&all[..], &limited].concat()
}

fn formats() -> Vec<String> {
    let n = 5;
    vec![format!("{:03}|{n:>4}|{:<3}|", -7, 'x'), format!("{:.2} {:?} {:x}", 2.345, Some("a"), 255), format!("{:*^7}", "mid")]
}

fn slices() -> Vec<u8> {
    let all = b"abc".to_vec();
    match all.as_slice() {
        [first, .., last] => [&all[1..], &[*first, *last]].concat(),
        _ => vec![],
    }
}

fn options() -> Option<u16> {
    let port = Some(8080u16).filter(|port| *port > 1024).map(|port| port + 1)?;
    if let Some(other) = "x=9".split_once('=').and_then(|(_, n)| n.parse::<u16>().ok())
        && other > 3
    {
        return Some(port + other);
    }
    None
}
