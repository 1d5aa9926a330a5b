//! Random programs: a function that makes a default, and what it needs: constants, impls, traits, macros.
//!
//! Not all of them panic-free, and rustc may not take all of them; what it does not take is left out.

use super::kinds::dice::Dice;

pub struct Program {
    pub seed: u64,
    /// The type of the default.
    pub ty: String,
    /// The function `value`, and all that it names.
    pub text: String,
}

const INTEGERS: [&str; 10] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "isize", "usize"];

/// What is in scope of every program. `Q` is replaced by a number.
const ITEMS: &str = r#"
const BYTE: u8 = 7;
const SHORT: i16 = -300;
const LONG: u64 = 1 << 40;
const INT: i32 = 5 * (BYTE as i32) - Q;
const HALF: f32 = 0.1;
const FULL: f64 = 0.1;
const five: i32 = 5;
static NAME: &str = "name-Q";
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
pub struct S { pub a: i32, pub b: String, pub c: Vec<u8>, pub d: Option<u16> }
impl S {
    pub const MOST: u16 = Q + 1;
    fn of(a: i32) -> Self { Self { a, ..Default::default() } }
    fn named(b: impl Into<String>) -> Self { S { b: b.into(), ..S::of(1) } }
    fn a(&self) -> i32 { self.a + 1 }
}
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub enum E { Low, Mid(u8), High { n: i16 } }
impl Default for E { fn default() -> Self { E::Mid(Q) } }
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
pub struct N(String);
impl From<&str> for N { fn from(text: &str) -> Self { Self(format!("{text}!")) } }
mod g { pub const GLOB: u8 = Q; pub fn made() -> u8 { GLOB + 1 } }
#[allow(unused_imports)] use g::*;
fn same<T>(value: T) -> T { value }
fn add(a: i32, b: i32) -> i32 { a + b }
fn fill(list: &mut Vec<i32>) -> i32 { list.push(9); 1 }
"#;

/// Programs for what is easily misread: the type of the default, the body, and items. `Q` is a number, `A` and `B` are
/// expressions of `i32`, `V` is one of `Vec<i32>`, `T` one of `String`, and `M` is a method of std.
const TRICKS: &[(&str, &str, &str)] = &[
    ("Vec<i32>", "let mut v = V; let r = &mut v; r.push(A); v", ""),
    ("Vec<i32>", "let mut v = V; let n = fill(&mut v); let _m = n; v", ""),
    ("Vec<i32>", "let mut v = V; let w = v.clone(); v.push(A); w", ""),
    ("Vec<i32>", "let mut v = V; v.push(A); let w = v.clone(); v.push(B); w", ""),
    ("Vec<i32>", "let mut v = V; { v.push(A); } v", ""),
    ("Vec<i32>", "let mut v = V; v.insert(0, A); v", ""),
    ("Vec<i32>", "let mut v = V; if A < B { v.push(1); } v", ""),
    ("Vec<i32>", "let mut v = V; for i in 0..Q { v.push(i); } v", ""),
    ("Vec<i32>", "let mut v = V; v.sort(); v", ""),
    ("Vec<i32>", "let mut v = V; v[0] = A; v", ""),
    ("Vec<i32>", "let mut v = V; v = vec![A]; v", ""),
    ("Vec<i32>", "let mut v = V; v.extend([A]); v", ""),
    ("Vec<i32>", "let mut v = vec![1]; v.push(A); v.into_iter().map(|x| x * 2).collect()", ""),
    ("Vec<i32>", "let mut v = V; let _n = { v.push(A); 1 }; v", ""),
    ("Vec<i32>", "let mut v = V; let _n = if A < B { v.push(A); 1 } else { 2 }; v", ""),
    ("Vec<i32>", "let mut v = V; let _n = match A { 5 => 2, _ => { v.push(B); 1 } }; v", ""),
    ("Vec<i32>", "let mut v = V; let _n = add(1, { v.push(A); 2 }); v", ""),
    ("Vec<i32>", "let mut v = V; let w: Vec<i32> = [A].into_iter().map(|x| { v.push(x); x }).collect(); v", ""),
    ("Vec<i32>", "let mut v = V; let _s = S { d: v.pop().map(|x| x as u16), ..S::of(A) }; v", ""),
    ("Vec<i32>", "let mut v = V; let w = { let mut v = vec![A]; v.push(B); v }; v.push(Q); [v, w].concat()", ""),
    ("Vec<i32>", "{ let mut v = V; v.push(A); v }", ""),
    ("Vec<i32>", "if A < B { let mut v = V; v.push(A); v } else { V }", ""),
    ("std::cell::Cell<i32>", "let c = std::cell::Cell::new(A); let _n = c.replace(B); c", ""),
    (
        "std::cell::Cell<i32>",
        "let c = std::cell::Cell::new(A); let _n = put(&c); c",
        "fn put(c: &std::cell::Cell<i32>) -> i32 { c.set(5); 1 }",
    ),
    ("i32", "let x = None::<i32>.unwrap(); A", ""),
    ("i32", "let _s = S { d: None.unwrap(), ..S::of(1) }; A", ""),
    ("i32", "let x = V; let y = x.len(); A", ""),
    ("u8", "let made = same::<u8>; made(BYTE) + g::made()", ""),
    ("u8", "let f = made; f()", "fn f() -> u8 { 99 }"),
    (
        "Vec<u8>",
        "let f = made2; [BYTE, Q].into_iter().map(f).collect()",
        "fn f(n: u8) -> u8 { n } fn made2(n: u8) -> u8 { n / 2 }",
    ),
    (
        "u8",
        "<K as T1>::N + K::N + <K as T1>::f() + K::f()",
        "struct K; trait T1 { const N: u8 = 20; fn f() -> u8 { 30 } } impl T1 for K {} impl K { const N: u8 = 2; fn f() -> u8 { 3 } }",
    ),
    ("u8", "<u8 as T1>::MAX", "trait T1 { const MAX: u8 = 20; } impl T1 for u8 {}"),
    (
        "u8",
        "K::<u16>::N + K::<u16>::f()",
        "struct K<X>(X); trait T1 { const N: u8 = 20; fn f() -> u8 { 30 } } impl<X> T1 for K<X> {} impl K<u8> { const N: u8 = 2; fn f() -> u8 { 3 } }",
    ),
    (
        "u8",
        "K::<u8>::N + K::<u8>::f()",
        "struct K<X>(X); impl K<u8> { const N: u8 = 2; fn f() -> u8 { 3 } } impl K<u16> { const N: u8 = 4; fn f() -> u8 { 5 } }",
    ),
    (
        "usize",
        "f::<3>() + f::<{ Q + 1 }>() + f::<N9>()",
        "const N9: usize = 9; const W: usize = 8; fn f<const W: usize>() -> usize { W }",
    ),
    (
        "usize",
        "K::<4>::N + K::<Q>::new().0",
        "const W: usize = 8; struct K<const V9: usize>(usize); impl<const W: usize> K<W> { const N: usize = W; fn new() -> Self { K(W) } }",
    ),
    ("u16", "f::<u16>() + f::<u16>()", "fn f<X: Default>() -> X { X::default() }"),
    ("String", "f::<String>()", "fn f<S: Default>() -> S { S::default() }"),
    (
        "D1",
        "D1::A",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] pub enum D1 { A, B } #[allow(non_upper_case_globals)] impl D1 { const A: D1 = D1::B; }",
    ),
    (
        "D1",
        "D1::A(Q)",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] pub enum D1 { A(u8), B(u8) } #[allow(non_snake_case)] impl D1 { fn A(n: u8) -> D1 { D1::B(n) } }",
    ),
    (
        "D1",
        "T.into()",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] pub struct D1(String); impl From<&str> for D1 { fn from(t: &str) -> Self { D1(format!(\"from {t}\")) } } impl Into<D1> for String { fn into(self) -> D1 { D1(format!(\"into {self}\")) } }",
    ),
    (
        "D1",
        "\"a-Q\".into()",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] pub struct D1(String); impl From<&str> for D1 { fn from(t: &str) -> Self { D1(format!(\"from {t}\")) } } impl Into<D1> for String { fn into(self) -> D1 { D1(format!(\"into {self}\")) } }",
    ),
    ("f32", "1.0000000596046447754 as f32", ""),
    ("f32", "(Q.0000000596046447754) as f32 + HALF", ""),
    ("D1", "D1(Q)", "#[derive(Debug, Deserialize, Serialize, JsonSchema)] pub struct D1(#[serde(skip)] u8);"),
    (
        "D1",
        "D1(vec![])",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] pub struct D1(#[serde(skip_serializing_if = \"Vec::is_empty\")] Vec<u8>);",
    ),
    ("D1", "D1::A(Q)", "#[derive(Debug, Deserialize, Serialize, JsonSchema)] pub enum D1 { A(#[serde(skip)] u8) }"),
    (
        "D1",
        "D1::A(Q, 1)",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] pub enum D1 { A(u8, #[serde(skip)] u8) }",
    ),
    (
        "D1",
        "D1::A(None)",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] pub enum D1 { A(#[serde(skip_serializing_if = \"Option::is_none\")] Option<u8>) }",
    ),
    (
        "D1",
        "D1::A(Q)",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] #[serde(tag = \"t\", content = \"c\")] pub enum D1 { A(#[serde(skip)] u8) }",
    ),
    (
        "D1",
        "D1 { t: Q }",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] #[serde(tag = \"type\")] pub struct D1 { #[serde(rename = \"type\")] t: u8 }",
    ),
    (
        "D1",
        "D1::A(In { t: Q })",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] #[serde(tag = \"type\")] pub enum D1 { A(In) } #[derive(Debug, Deserialize, Serialize, JsonSchema)] pub struct In { #[serde(rename = \"type\")] t: u8 }",
    ),
    (
        "D1",
        "D1 { x: Q }",
        "fn plus<S: serde::Serializer>(x: &u8, s: S) -> Result<S::Ok, S::Error> { s.serialize_u8(x + 1) } #[derive(Debug, Deserialize, Serialize, JsonSchema)] #[serde(transparent)] pub struct D1 { #[serde(serialize_with = \"plus\")] x: u8 }",
    ),
    ("Vec<i32>", "let mut v = V; v.push({ let n = A; n }); v", ""),
    ("usize", "let v = vec![vec![A; 300]; 300]; v.len()", ""),
    ("i32", "match Some(A) { Some(x) if x > B => x, Some(x) => x ^ 1, None => 1 }", ""),
    ("i32", "match (A, B) { (x, 5) | (5, x) if x > Q => x, (x, y) if x == y => 2, _ => 3 }", ""),
    ("i32", "match (Q, A) { (x, _) | (_, x) if x > 5 => x, _ => 3 }", ""),
    ("i32", "let x = 7; match Some(A) { Some(y) if let Some(x) = Some(y) => x, _ => x }", ""),
    ("i32", "let (a, (b, c)): (i32, (i32, u8)) = (A, (B, BYTE)); a ^ b ^ c as i32", ""),
    ("Vec<i32>", "let mut v = V; v.extend([A, B]); v.extend(V); v.push(v.len() as i32); v", ""),
    ("Vec<i32>", "let mut v = V; v.extend(v.clone()); v", ""),
    ("Vec<i32>", "V.into_iter().rev().skip(Q).chain([A]).take(2).collect()", ""),
    ("Vec<i32>", "[A, B, 3].iter().rev().copied().collect()", ""),
    ("Vec<i32>", "std::collections::BTreeSet::from([A, B, 3]).iter().rev().copied().collect()", ""),
    ("i32", "[A, B, 3][Q % 3]", ""),
    ("i32", "V[0] ^ V[Q]", ""),
    ("String", "[T, T].join(&T)", ""),
    ("String", "vec![NAME, \"Q\"].join(\"-\")", ""),
    ("String", "T.trim().to_uppercase()", ""),
    ("String", "let mut s = T; let t = s.clone(); s.push_str(&T); s.push('x'); s + &t", ""),
    ("i32", "None.unwrap_or(A) ^ Some(B).unwrap_or(1)", ""),
    ("String", "format!(\"{} {} {}\", HALF, FULL * 1e20, A as f64 / 3.0)", ""),
    ("String", "(HALF / Q.0).to_string()", ""),
    ("u8", "(A as f64 * 1.5) as u8", ""),
    ("i64", "(HALF * 1e10) as i64 ^ (FULL * 1e30) as i64", ""),
    ("i16", "!SHORT & !Q", ""),
    ("bool", "T < T || 'a' >= 'b'", ""),
    ("i32", "INT.max(A).min(B)", ""),
    ("Vec<String>", "[\"a\", \"Q\"].map(|s| format!(\"{s}!\")).to_vec()", ""),
    ("Vec<i32>", "[(A, B), (B, A)].map(|(x, y)| x ^ y).to_vec()", ""),
    (
        "String",
        "own(S::of(A))",
        "impl S { fn to_string(&self) -> String { \"own\".into() } } impl std::fmt::Display for S { fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { write!(f, \"trait\") } } fn own<W: ToString>(w: W) -> String { w.to_string() }",
    ),
    ("S", "S::of(A).clone()", "#[allow(dead_code)] impl S { fn clone(&self) -> S { S::of(77) } }"),
    (
        "D1",
        "made2::<D1>()",
        "#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)] pub struct D1(u8); impl D1 { fn default() -> D1 { D1(7) } } fn made2<W: Default>() -> W { W::default() }",
    ),
    ("Vec<i32>", "[#[cfg(feature = \"off\")] 1, A].to_vec()", ""),
    ("Vec<i32>", "vec![A, B].iter().rev().cloned().collect()", ""),
    ("Vec<i32>", "V.into_iter().filter(|x| *x > Q).collect()", ""),
    ("Vec<i32>", "V.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()", ""),
    ("Vec<i32>", "let s = std::collections::BTreeSet::from([A, B, 3]); s.into_iter().collect()", ""),
    ("Vec<i32>", "std::collections::BinaryHeap::from([A, B]).into_iter().collect()", ""),
    ("Vec<i32>", "std::collections::BTreeMap::from([(A, B), (1, 2)]).into_values().collect()", ""),
    ("Vec<(i32, i32)>", "std::collections::BTreeMap::from([(A, B), (1, 2)]).into_iter().collect()", ""),
    (
        "std::collections::BTreeMap<String, i32>",
        "let mut m = std::collections::BTreeMap::new(); m.insert(T, A); m.insert(T, B); m",
        "",
    ),
    ("std::collections::BTreeMap<i32, i32>", "[(A, 1), (B, 2), (A, 3)].into()", ""),
    ("std::collections::BTreeMap<i32, i32>", "[(A, 1), (B, 2)].into_iter().collect()", ""),
    (
        "std::collections::BTreeMap<String, String>",
        "[(\"a\", \"b\"), (\"Q\", \"c\")].into_iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()",
        "",
    ),
    ("std::collections::BTreeSet<String>", "[T, T].into()", ""),
    ("std::collections::BTreeSet<String>", "[\"b\", \"a\", \"Q\"].into_iter().map(String::from).collect()", ""),
    ("std::collections::BTreeSet<N>", "[\"b\", \"a\"].into_iter().map(Into::into).collect()", ""),
    ("std::collections::BTreeSet<std::cmp::Reverse<i32>>", "[std::cmp::Reverse(A), std::cmp::Reverse(B)].into()", ""),
    ("bool", "std::cmp::Reverse(A) < std::cmp::Reverse(B)", ""),
    ("u8", "(std::num::Wrapping(250u8) + std::num::Wrapping(Q)).0", ""),
    ("u8", "250u8.wrapping_add(Q)", ""),
    ("bool", "0.1f32 + 0.2f32 == 0.3f32", ""),
    ("bool", "let x = 0.1; let y: f32 = x; x + 0.2 == 0.3 && y > 0.0", ""),
    ("bool", "HALF as f64 == FULL", ""),
    ("f64", "HALF as f64 * Q as f64", ""),
    ("f32", "let x = 16777217.0; x", ""),
    ("i64", "(1 << 31) as i64", ""),
    ("i64", "let x = 1 << 31; x as i64", ""),
    ("i64", "let x = 200; let y: u8 = x; (x << 1) as i64 + y as i64", ""),
    ("bool", "let x = 200; let y: u8 = x; x << 1 > 255", ""),
    ("u8", "let x = A; x as u8", ""),
    ("i8", "(A as u8) as i8", ""),
    ("u64", "-1i32 as u64", ""),
    ("u32", "(SHORT as u16) as u32", ""),
    ("i32", "!A", ""),
    ("i64", "A as i64 * 3_000_000_000", ""),
    ("i32", "INT % -3 + -7 / 2", ""),
    ("i32", "match A { five => 1, _ => 2 }", ""),
    ("i32", "match A { five if B > 0 => 1, x => x }", ""),
    ("i32", "match A { 0..=9 => 1, _ => 2 }", ""),
    ("i32", "match A { #[cfg(feature = \"off\")] _ => 1, _ => 2 }", ""),
    ("i32", "match E::default() { E::Mid(n) => n as i32, _ => 2 }", ""),
    ("i32", "match E::default() { E::High { n } => n as i32, E::Mid(Q) => 1, _ => 2 }", ""),
    ("i32", "if let E::Mid(n) = (E::Mid(BYTE)) { n.into() } else { A }", ""),
    ("i32", "let Some(x) = Some(A) else { return B }; x", ""),
    ("i32", "let x = if A < B { return 1 } else { 2 }; x + 1", ""),
    ("i32", "let x = A; let x = x + 1; { let x = 0; let _ = x; } x", ""),
    ("i32", "#[cfg(feature = \"off\")] return 1; A", ""),
    ("i32", "const N: i32 = 3; N + A", "const N: i32 = 99;"),
    ("i32", "fn add(a: i32, b: i32) -> i32 { a - b } add(A, B)", ""),
    ("i32", "S::of(A).a() + S::default().a", ""),
    ("S", "S { a: A, b: T, ..Default::default() }", ""),
    ("S", "S { a: A, ..S::named(T) }", ""),
    ("S", "S::named(\"Q\")", ""),
    ("S", "let mut s = S::of(A); s.a = B; s", ""),
    (
        "S",
        "S { c: vec![1, 2], d: Some(S::MOST), #[cfg(feature = \"off\")] a: 1, #[cfg(not(feature = \"off\"))] a: 2, ..Default::default() }",
        "",
    ),
    ("N", "\"text-Q\".into()", ""),
    ("N", "N::from(NAME)", ""),
    ("Vec<N>", "vec![\"a\".into(), N::from(\"b\")]", ""),
    ("Box<S>", "Box::new(S::of(A))", ""),
    ("Option<u64>", "Some(GLOB.into())", ""),
    ("u8", "GLOB + made()", ""),
    ("u8", "GLOB", "macro_rules! c { () => { const GLOB: u8 = 77; } } c!();"),
    ("u8", "made()", "macro_rules! c { () => { fn made() -> u8 { 77 } } } c!();"),
    ("String", "format!(\"{A1}-{}\", A, A1 = B)", "#[allow(dead_code)] const A1: i32 = 3;"),
    ("String", "format!(\"{NAME}-{0}-{}-{1}\", A, B)", ""),
    ("String", "format!(\"{:>5}|{:05}|{:?}\", A, B, T)", ""),
    ("String", "format!(\"{{{}}}\", T)", ""),
    ("String", "format!(\"{}\", 0.1f32)", ""),
    ("String", "let x = A; format!(\"{x}\")", ""),
    ("String", "concat!(\"a\", 1, 'c', true, 1.50).to_string()", ""),
    ("String", "stringify!(a + b).into()", ""),
    ("String", "T.to_uppercase()", ""),
    ("String", "T.replace(\"a\", \"b\")", ""),
    ("String", "T + \"x\"", ""),
    ("String", "let mut s = T; s.push_str(\"x\"); s", ""),
    ("String", "[T, T].join(\",\")", ""),
    ("Vec<i32>", "vec![A, B]", "macro_rules! vec { ($($x:expr),*) => { Vec::from([$($x + 10),*]) } }"),
    ("String", "concat!(\"a\", \"b\").to_string()", "macro_rules! concat { ($($x:expr),*) => { \"own\" } }"),
    ("String", "format!(\"{}\", 1)", "macro_rules! format { ($($x:tt)*) => { String::from(\"own\") } }"),
    ("bool", "matches!(A, 5)", "macro_rules! matches { ($($x:tt)*) => { true } }"),
    ("String", "crate_macro!()", "macro_rules! crate_macro { () => { \"own\".to_string() } }"),
    (
        "Vec<i32>",
        "V.M()",
        "trait Own { fn M(self) -> Vec<i32>; } impl Own for Vec<i32> { fn M(mut self) -> Vec<i32> { self.push(5); self } }",
    ),
    (
        "Vec<i32>",
        "[A, B].M()",
        "trait Own { fn M(self) -> Vec<i32>; } impl Own for [i32; 2] { fn M(self) -> Vec<i32> { vec![5] } }",
    ),
    (
        "Vec<i32>",
        "vec![A].M()",
        "mod t { pub trait Own { fn M(self) -> Vec<i32>; } impl Own for Vec<i32> { fn M(mut self) -> Vec<i32> { self.push(5); self } } } use t::Own as _;",
    ),
    (
        "Vec<i32>",
        "vec![A].M()",
        "mod t { pub trait Own { fn M(self) -> Vec<i32>; } impl Own for Vec<i32> { fn M(mut self) -> Vec<i32> { self.push(5); self } } } use t::*;",
    ),
    (
        "Vec<i32>",
        "vec![A].M()",
        "macro_rules! m { ($t:ident, $f:ident) => { trait $t { fn $f(self) -> Vec<i32>; } impl $t for Vec<i32> { fn $f(self) -> Vec<i32> { vec![5] } } } } m!(Own, M);",
    ),
    ("i32", "A.M()", "trait Own { fn M(self) -> i32; } impl Own for i32 { fn M(self) -> i32 { self + 5 } }"),
    (
        "String",
        "T.M()",
        "trait Own { fn M(self) -> String; } impl Own for String { fn M(self) -> String { \"own\".into() } }",
    ),
    (
        "String",
        "\"a\".M()",
        "trait Own { fn M(self) -> String; } impl Own for &str { fn M(self) -> String { String::from(\"own\") } }",
    ),
    ("usize", "V.len()", "trait Own { fn len(self) -> usize; } impl Own for Vec<i32> { fn len(self) -> usize { 99 } }"),
    (
        "S",
        "S::of(A).clone()",
        "trait Own { fn clone(self) -> S; } impl Own for S { fn clone(self) -> S { S::of(77) } }",
    ),
    (
        "C",
        "C(1).clone()",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] pub struct C(u8); impl Clone for C { fn clone(&self) -> Self { C(9) } }",
    ),
    (
        "Vec<C>",
        "vec![C(1); 2]",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] pub struct C(u8); impl Clone for C { fn clone(&self) -> Self { C(9) } }",
    ),
    (
        "bool",
        "C(1) == C(2)",
        "#[derive(Debug)] pub struct C(u8); impl PartialEq for C { fn eq(&self, _: &Self) -> bool { true } }",
    ),
    (
        "bool",
        "C(1) == 2u8",
        "#[derive(Debug, PartialEq)] pub struct C(u8); impl PartialEq<u8> for C { fn eq(&self, _: &u8) -> bool { true } }",
    ),
    (
        "i32",
        "*C(1)",
        "pub struct C(u8); impl std::ops::Deref for C { type Target = i32; fn deref(&self) -> &i32 { &77 } }",
    ),
    (
        "u8",
        "(C(1) + C(2)).0",
        "pub struct C(u8); impl std::ops::Add for C { type Output = C; fn add(self, _: C) -> C { C(77) } }",
    ),
    (
        "C",
        "Default::default()",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] pub struct C(u8); impl Default for C { fn default() -> Self { C(4) } } impl C { pub fn default() -> u8 { 1 } }",
    ),
    (
        "u8",
        "None.unwrap_or(3)",
        "#[derive(Clone)] enum O { None } impl O { fn unwrap_or(self, n: u8) -> u8 { n + 1 } } use O::*;",
    ),
    (
        "u8",
        "match Some(2) { Some(x) => x, _ => 9 }",
        "#[derive(Clone)] pub struct W(u8); fn Some(n: u8) -> Option<u8> { Option::Some(n + 5) }",
    ),
    ("u8", "same(BYTE)", ""),
    (
        "T2",
        "T2 { x: Outer { inner: 5, list: vec![] } }",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] pub struct Outer<T> { inner: T, list: Vec<T> } #[derive(Debug, Deserialize, Serialize, JsonSchema)] pub struct T2 { x: Outer<u8> }",
    ),
    ("u64", "let x = BYTE; u64::from(x) << 8 | 1", ""),
    ("Option<String>", "Some(NAME.to_string()).map(|x| x + \"y\")", ""),
    ("Option<S>", "Some(S::of(A))", ""),
    ("(u8, String, bool)", "(BYTE, T, A < B)", ""),
    ("[u8; 3]", "[BYTE; 3]", ""),
    ("E", "E::High { n: SHORT + 1 }", ""),
    ("E", "let n = 3; E::Mid(n)", ""),
    ("E", "use E::*; Low", ""),
    ("std::num::NonZeroU16", "std::num::NonZeroU16::new(80 + Q).unwrap()", ""),
    (
        "std::collections::VecDeque<i32>",
        "let mut d = std::collections::VecDeque::new(); d.push_back(A); d.push_front(B); d",
        "",
    ),
    ("serde_json::Value", "serde_json::json!({ \"a\": A, \"b\": [T, null, 1.5], \"c\": { \"d\": BYTE } })", ""),
    ("serde_json::Value", "serde_json::Value::from(5)", ""),
    ("serde_json::Value", "\"x\".into()", ""),
    ("Box<str>", "\"x\".into()", ""),
    ("std::borrow::Cow<'static, str>", "NAME.into()", ""),
    ("std::path::PathBuf", "std::path::PathBuf::from(\"/a/b\")", ""),
    ("char", "'x'", ""),
    ("String", "'x'.to_string()", ""),
    ("String", "5.to_string()", ""),
    ("u32", "10u32.pow(3) + 2u32.pow(Q)", ""),
];

/// Methods that opctl takes for std's if no trait of the crate has them.
const METHODS: &[&str] = &[
    "to_vec",
    "into_iter",
    "iter",
    "clone",
    "collect",
    "to_owned",
    "to_string",
    "into",
    "copied",
    "cloned",
    "to_value",
    "len",
    "is_empty",
    "pow",
    "map",
    "unwrap",
    "as_str",
    "own",
];

impl Program {
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        dice.throw();
        let number = dice.between(1, 6).to_string();
        let (ty, body, items) = if dice.percent(45) {
            let (ty, body, items) = TRICKS[dice.below(TRICKS.len())];
            let method = dice.pick(METHODS);
            let items = replaced(items, "M", method);
            let mut body = replaced(body, "M", method);
            for (word, ty) in [("A", "i32"), ("B", "i32"), ("V", "Vec<i32>"), ("T", "String")] {
                while has(&body, word) {
                    let made = Maker { dice: &mut dice }.of(ty, 2);
                    body = replaced_once(&body, word, &made);
                }
            }
            (ty.to_string(), body, items)
        } else {
            let types = ["bool", "f32", "f64", "String", "Vec<i32>", "Vec<String>", "Option<i64>", "Vec<u8>", "S"];
            let ty = if dice.percent(50) { INTEGERS[dice.below(10)] } else { dice.pick(&types) };
            (ty.to_string(), Maker { dice: &mut dice }.of(ty, 4), String::new())
        };
        // Items come in either order: macros only count for what follows.
        let text = format!("{ITEMS}\n{items}\npub fn value() -> {ty} {{ {body} }}\n");
        Self { seed, ty, text: replaced(&text, "Q", &number) }
    }
}

/// Splits at the first place where a word stands by itself.
fn split<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let at = text
        .match_indices(word)
        .map(|(at, _)| at)
        .find(|at| !text[..*at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word))?;
    Some((&text[..at], &text[at + word.len()..]))
}

fn has(text: &str, word: &str) -> bool {
    split(text, word).is_some()
}

fn replaced_once(text: &str, word: &str, by: &str) -> String {
    match split(text, word) {
        Some((before, after)) => format!("{before}{by}{after}"),
        None => text.to_string(),
    }
}

fn replaced(text: &str, word: &str, by: &str) -> String {
    match split(text, word) {
        Some((before, after)) => format!("{before}{by}{}", replaced(after, word, by)),
        None => text.to_string(),
    }
}

struct Maker<'a> {
    dice: &'a mut Dice,
}

impl Maker<'_> {
    fn integer(&mut self) -> &'static str {
        INTEGERS[self.dice.below(INTEGERS.len())]
    }

    fn list(&mut self, ty: &str, depth: usize, most: usize) -> String {
        let count = self.dice.between(1, most);
        (0..count).map(|_| self.of(ty, depth)).collect::<Vec<_>>().join(", ")
    }

    /// An expression of a type.
    fn of(&mut self, ty: &str, depth: usize) -> String {
        let next = depth.saturating_sub(1);
        if depth > 0 && self.dice.percent(12) {
            let condition = self.of("bool", next);
            let (one, other) = (self.of(ty, next), self.of(ty, next));
            return match self.dice.below(4) {
                0 => format!("(if {condition} {{ {one} }} else {{ {other} }})"),
                1 => format!("(match {condition} {{ true => {one}, _ => {other} }})"),
                2 => format!("{{ let x = {one}; x }}"),
                _ => format!("same::<{ty}>({one})"),
            };
        }
        match ty {
            "bool" => self.bool(depth),
            "f32" | "f64" => self.float(ty, depth),
            "String" => self.text(depth),
            "S" => match self.dice.below(4) {
                0 => "S::default()".into(),
                1 => format!("S::of({})", self.of("i32", next)),
                2 => {
                    format!("S {{ a: {}, b: {}, ..Default::default() }}", self.of("i32", next), self.of("String", next))
                }
                _ => format!(
                    "S {{ a: {}, b: {}, c: {}, d: {} }}",
                    self.of("i32", next),
                    self.of("String", next),
                    self.of("Vec<u8>", next),
                    if self.dice.percent(50) { "None".into() } else { format!("Some({})", self.of("u16", next)) }
                ),
            },
            _ if ty.starts_with("Option<") => {
                let inner = &ty[7..ty.len() - 1];
                match self.dice.below(3) {
                    0 => format!("Some({})", self.of(inner, next)),
                    1 => format!("Option::Some({})", self.of(inner, next)),
                    _ => format!("Some({}).clone()", self.of(inner, next)),
                }
            }
            _ if ty.starts_with("Vec<") => self.vec(&ty[4..ty.len() - 1], depth),
            integer => self.number(integer, depth),
        }
    }

    fn number(&mut self, ty: &str, depth: usize) -> String {
        let next = depth.saturating_sub(1);
        let small = self.dice.between(0, 9);
        if depth == 0 {
            return match (self.dice.below(8), ty) {
                (0, ty) => format!("{small}_{ty}"),
                (1, _) => "100".into(),
                (2, "u8") => "BYTE".into(),
                (2, "i16") => "SHORT".into(),
                (2, "u64") => "LONG".into(),
                (2, "i32") => "INT".into(),
                (2, "u16") => "S::MOST".into(),
                (3, ty) => format!("{ty}::MAX"),
                (4, ty) if ty.starts_with('i') => format!("-{small}"),
                _ => small.to_string(),
            };
        }
        match self.dice.below(13) {
            0..=3 => {
                let op = self.dice.pick(&["+", "-", "*", "/", "%", "&", "|", "^"]);
                format!("({} {op} {})", self.of(ty, next), self.of(ty, next))
            }
            4 => {
                let op = self.dice.pick(&["<<", ">>"]);
                let by = self.dice.between(0, 9);
                format!("({} {op} {by})", self.of(ty, next))
            }
            5..=6 => {
                let from = self.integer();
                format!("(({}) as {ty})", self.of(from, next))
            }
            7 => format!("((1 << {}) as {ty})", self.dice.between(0, 31)),
            8 => format!("{{ let y = {}; y + {} }}", self.of(ty, next), self.of(ty, next)),
            9 => format!("({}.len() as {ty})", self.of("String", next)),
            10 => format!("{small}_{ty}.pow({})", self.dice.between(0, 3)),
            11 => format!(
                "(match {} {{ {small} => {}, _ => {} }})",
                self.of(ty, next),
                self.of(ty, next),
                self.of(ty, next)
            ),
            _ => self.of(ty, 0),
        }
    }

    fn float(&mut self, ty: &str, depth: usize) -> String {
        let next = depth.saturating_sub(1);
        if depth == 0 {
            let digits = format!("{}.{}", self.dice.between(0, 99), self.dice.between(0, 999));
            return match (self.dice.below(3), ty) {
                (0, ty) => format!("{digits}_{ty}"),
                (1, "f32") => "HALF".into(),
                (1, _) => "FULL".into(),
                _ => digits,
            };
        }
        match self.dice.below(5) {
            0..=1 => {
                let op = self.dice.pick(&["+", "-", "*", "/"]);
                format!("({} {op} {})", self.of(ty, next), self.of(ty, next))
            }
            2 => {
                let from = if self.dice.percent(50) { self.integer() } else { self.dice.pick(&["f32", "f64"]) };
                format!("(({}) as {ty})", self.of(from, next))
            }
            3 => format!("{{ let z = {}; z * {} }}", self.of(ty, 0), self.of(ty, next)),
            _ => self.of(ty, 0),
        }
    }

    fn bool(&mut self, depth: usize) -> String {
        let next = depth.saturating_sub(1);
        if depth == 0 {
            return self.dice.pick(&["true", "false"]).into();
        }
        match self.dice.below(6) {
            0..=1 => {
                let ty = if self.dice.percent(75) { self.integer() } else { self.dice.pick(&["f32", "f64"]) };
                let op = self.dice.pick(&["==", "!=", "<", ">=", ">"]);
                format!("(({}) {op} ({}))", self.of(ty, next), self.of(ty, next))
            }
            2 => format!("({} && {})", self.of("bool", next), self.of("bool", next)),
            3 => format!("!{}", self.of("bool", next)),
            4 => format!("({} == {})", self.of("String", next), self.of("String", next)),
            _ => format!("({}).is_empty()", self.of("Vec<i32>", next)),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        let next = depth.saturating_sub(1);
        let word = self.dice.pick(&["a", "b-c", "ä", "", "x y"]);
        match self.dice.below(if depth == 0 { 4 } else { 9 }) {
            0 => format!("\"{word}\".to_string()"),
            1 => format!("String::from(\"{word}\")"),
            2 => "NAME.to_owned()".into(),
            3 => format!("String::from(concat!(\"{word}\", 5))"),
            4 => {
                let ty = self.integer();
                format!("format!(\"{{}}-{{k}}-{{NAME}}\", {}, k = {})", self.of(ty, next), self.of("String", next))
            }
            5 => format!("({}).to_string()", self.of("i32", 0))
                .replace("(-", "(0-")
                .replace(".to_string", "_i32.to_string")
                .replace(")_i32", ")"),
            6 => format!("{{ let t = {}; t.clone() }}", self.of("String", next)),
            7 => format!("({}).to_string()", self.of("bool", next)),
            _ => format!("S::named({}).b", self.of("String", next)),
        }
    }

    fn vec(&mut self, of: &str, depth: usize) -> String {
        let next = depth.saturating_sub(1);
        let list = self.list(of, next, 3);
        match self.dice.below(9) {
            0..=1 => format!("vec![{list}]"),
            2 => format!("[{list}].to_vec()"),
            3 => format!("Vec::from([{list}])"),
            4 => format!("vec![{}; {}]", self.of(of, next), self.dice.between(0, 3)),
            5 => format!("{{ let mut v = vec![{list}]; v.push({}); v }}", self.of(of, next)),
            6 => format!("[{list}].into_iter().map(|x| x).collect::<Vec<{of}>>()"),
            7 => format!("std::collections::BTreeSet::<{of}>::from([{list}]).into_iter().collect::<Vec<{of}>>()"),
            _ => "Vec::new()".into(),
        }
    }
}
