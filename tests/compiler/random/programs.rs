//! Random programs: a function that returns a default, and the constants, impls, traits and macros that it uses.
//!
//! They may panic, and rustc may reject them; rejected ones are skipped.

use super::kinds::dice::Dice;

pub struct Program {
    pub seed: u64,
    /// The type of the default.
    pub ty: String,
    /// The function `value`, and all items that it uses.
    pub text: String,
}

const INTEGERS: [&str; 10] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "isize", "usize"];

/// Items in scope of every program. `Q` is replaced by a number.
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

/// Programs that are easily misinterpreted: the type of the default, the body, and items. `Q` is a number, `A` and `B`
/// are expressions of `i32`, `V` is one of `Vec<i32>`, `T` one of `String`, and `M` is a method of std.
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
    // Places that are passed on, and functions as values.
    (
        "Vec<i32>",
        "let mut v = V; twice(&mut v, A); v",
        "fn twice(v: &mut Vec<i32>, n: i32) { v.push(n); let w = v.clone(); v.extend(w); }",
    ),
    (
        "i32",
        "let mut n = A; count(&mut n); n",
        "fn count(n: &mut i32) { if *n < 5 && *n > -99 { *n += 1; count(n); } }",
    ),
    ("Vec<i32>", "let mut v = V; for x in v.iter_mut() { if *x == A { break; } *x = *x % 7 + 1; } v", ""),
    (
        "Vec<i32>",
        "let mut v = V; for (i, x) in v.iter_mut().enumerate() { *x = i as i32; } v.rotate_left(v.len() / 2); v",
        "",
    ),
    ("Vec<i32>", "let mut v = V; let mut w = vec![A]; std::mem::swap(&mut v, &mut w); v.append(&mut w); v", ""),
    ("Vec<i32>", "let mut v = V; let w = std::mem::take(&mut v); v.push(A); v.extend(w); v", ""),
    (
        "Vec<i32>",
        "let mut v = V; v.sort_by(|a, b| b.cmp(a).then(a.cmp(b))); v.chunks(2).map(|c| c.iter().copied().max().unwrap()).collect()",
        "",
    ),
    ("i32", "match V.as_slice() { [] => A, [x] => *x, [x, rest @ ..] => x % 9 + rest.len() as i32 }", ""),
    (
        "i32",
        "let k = A; let f = move |x: i32| x % 5 + k % 5; applied(f, B)",
        "fn applied(f: impl Fn(i32) -> i32, x: i32) -> i32 { f(f(x)) }",
    ),
    (
        "i32",
        "let mut c = Counter { n: A % 9, seen: vec![] }; c.step(Q); c.step(2); c.n + c.seen.len() as i32",
        "struct Counter { n: i32, seen: Vec<i32> } impl Counter { fn step(&mut self, by: i32) { self.seen.push(self.n); self.n += by; } }",
    ),
    (
        "String",
        "format!(\"{}|{:?}|{:>5}|{:+}\", Shown(A), Some(Q), B, Q)",
        "struct Shown(i32); impl std::fmt::Display for Shown { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, \"<{}>\", self.0) } }",
    ),
    (
        "String",
        "let mut s = T; s.insert(0, '-'); s.truncate(1); s + &T.chars().rev().filter(|c| c.is_alphanumeric()).collect::<String>()",
        "",
    ),
    ("Vec<String>", "T.split(|c: char| c == '-' || c.is_ascii_digit()).map(str::to_string).collect()", ""),
    (
        "String",
        "let mut m = std::collections::BTreeMap::new(); for x in V { *m.entry(x % 3).or_insert(0) += 1; } format!(\"{m:?}\")",
        "",
    ),
    (
        "Option<i64>",
        "T.split(' ').map(|s| s.parse::<i64>().ok()).collect::<Option<Vec<_>>>().map(|v| v.len() as i64)",
        "",
    ),
    ("u64", "(std::time::Duration::from_millis(Q) * 7).as_millis() as u64 + u64::from(17u32.leading_zeros())", ""),
    // Statements that mutate, exit, or only compute.
    ("Vec<i32>", "let mut v = V; for x in [A, B] { v.push(x); if x > Q { break; } } v", ""),
    ("Vec<i32>", "let mut v = V; for (i, x) in V.iter().enumerate() { if i % 2 == 0 { continue; } v.push(*x); } v", ""),
    ("Vec<i32>", "let mut v = V; let w = v.clone(); for x in &w { v.push(x + 1); } v", ""),
    ("Vec<i32>", "let mut v = vec![]; for i in 0..Q { for j in 0..i { v.push(i * j); } } v", ""),
    (
        "Vec<i32>",
        "let mut v = vec![]; 'o: for i in 0..9 { for j in 0..9 { if i * j > Q { break 'o; } if j > i { continue 'o; } v.push(i - j); } } v",
        "",
    ),
    ("Vec<u8>", "(0..Q).map(|i| i * 2).rev().collect()", ""),
    ("Vec<u8>", "(0..=Q).filter(|i| i % 2 == 1).collect()", ""),
    ("Vec<String>", "(0..Q).map(|i| format!(\"node-{i}\")).collect()", ""),
    ("Vec<String>", "let mut v = Vec::new(); for i in 0..Q { v.push(format!(\"{}-{i}\", T)); } v", ""),
    (
        "String",
        "let mut s = String::new(); for (i, c) in T.chars().enumerate() { if i > 0 { s += \"-\"; } s.push(c); } s",
        "",
    ),
    ("i32", "let mut n = A; n += B; n -= 1; n *= 2; n", ""),
    ("i32", "let mut n = A; n <<= 2; n ^= B; n >>= 1; n |= Q; n &= 255; n %= 7; n", ""),
    ("u8", "let mut n = 1; for _ in 0..Q { n *= 2; } n", ""),
    ("u8", "let mut n = 100; for _ in 0..Q { n += 30; } n", ""),
    ("i32", "let mut n = 0; for x in [A, B, Q] { n += x; } n", ""),
    ("u64", "let (mut a, mut b) = (0, 1); for _ in 0..Q { (a, b) = (b, a + b); } a", ""),
    (
        "u64",
        "let mut n = Q * 7u64; let mut steps = 0; while n != 1 { n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 }; steps += 1; } steps",
        "",
    ),
    ("i32", "let mut n = Q; loop { n += 3; if n > 20 { break n * 2; } }", ""),
    ("i32", "let x = loop { if A > B { break A; } break B; }; x + 1", ""),
    ("i32", "let r = 'a: { if A > B { break 'a 1; } if A == B { break 'a 2; } 3 }; r", ""),
    ("i32", "if A > B { return 1; } for x in V { if x > Q { return x; } } 7", ""),
    ("i32", "for x in [A, B] { match x { 5 => return 5, y if y > 0 => {} _ => return -1 } } 9", ""),
    ("i32", "let x; if A > B { x = A; } else { x = B; } x", ""),
    ("i32", "let n = 3; let m = n + Q; if m > 5 { A } else { B }", ""),
    ("i32", "let n = 3; { let n = 4; let _ = n; } { let mut n = n; n += 1; let _ = n; } n", ""),
    (
        "i32",
        "let mut n = 1; { n += 1; let n = 50; let _ = n; } if n > 1 { n += A & 7; let mut n = 3; n += 1; let _ = n; } n",
        "",
    ),
    ("i32", "let mut n = Q; let m = { n += 1; n }; let k = if m > 3 { n += 10; 1 } else { 2 }; n * k + m", ""),
    ("i32", "let mut n = Q; let f = move |x: i32| x + n; n = 100; f(A & 7) + n", ""),
    ("i32", "let n = Q; let f = |x| x + n; f(A & 7) + f(1)", ""),
    ("i32", "let mut n = Q; let mut f = |x: i32| { n += x; n }; let a = f(1); let b = f(2); a + b + n", ""),
    ("i32", "let mut n = 0; let v: Vec<i32> = [1, 2, 3].iter().map(|x| { n += x; n }).collect(); n + v[2]", ""),
    ("i32", "let mut n = 0; V.iter().for_each(|x| n += x & 7); n", ""),
    ("i32", "let mut v = V; v[0] = A; v[0] += Q; let n = v.len(); v[n - 1] = 2; v[0] ^ v[n - 1]", ""),
    ("Vec<i32>", "let mut v = V; v.push(A); v.insert(1, B); v.remove(0); v.swap(0, 1); v", ""),
    ("Vec<i32>", "let mut v = V; v.extend([A, 3, 3, B]); v.sort(); v.dedup(); v.reverse(); v", ""),
    ("Vec<i32>", "let mut v = V; v.extend([A, B]); v.retain(|x| *x > Q); v.truncate(2); v", ""),
    ("Vec<i32>", "let mut v = V; let mut w = Vec::new(); while let Some(x) = v.pop() { w.push(x); } w", ""),
    (
        "Vec<i32>",
        "let mut it = V.into_iter(); let mut w = vec![A]; if let Some(x) = it.next() { w.push(x); } w.extend(it); w",
        "",
    ),
    ("Vec<i32>", "let mut v = V; let first = v.first().copied().unwrap_or(Q); v.push(first); v", ""),
    ("S", "let mut s = S::of(A); s.a += 1; s.b.push_str(&T); s.c.push(Q); s.d = Some(3); s", ""),
    ("S", "let s = S::of(A); let mut t = s.clone(); t.a = B; if t == s { s } else { t }", ""),
    ("S", "let mut v = vec![S::of(A), S::of(B)]; v[1].c = vec![Q]; v[0].a = 4; v.remove(1)", ""),
    ("(i32, u8)", "let mut t = (A, BYTE); t.1 += 1; t.0 = t.0 / 2; t", ""),
    ("[u8; 3]", "let mut a = [0; 3]; for i in 0..3 { a[i] = i as u8 * Q; } a", ""),
    ("[[i32; 2]; 2]", "let mut a = [[0; 2]; 2]; a[1][0] = A; a[0] = [B, 1]; a", ""),
    (
        "std::collections::BTreeMap<String, i32>",
        "let mut m = std::collections::BTreeMap::new(); for (i, k) in [\"b\", \"a\", \"b\"].iter().enumerate() { m.insert(k.to_string(), i as i32 + Q); } m",
        "",
    ),
    (
        "std::collections::BTreeMap<i32, i32>",
        "let mut m: std::collections::BTreeMap<i32, i32> = V.into_iter().map(|x| (x, 1)).collect(); let old = m.insert(A, 2); if old.is_some() { m.remove(&A); } m",
        "",
    ),
    (
        "Vec<i32>",
        "let m = std::collections::BTreeMap::from([(B, A), (1, 2)]); let mut v = vec![]; for (k, x) in &m { v.push(*k); v.push(*x); } v",
        "",
    ),
    (
        "Vec<i32>",
        "let m = std::collections::HashMap::from([(B, A), (1, 2)]); let mut v = vec![]; for (k, x) in &m { v.push(*k); v.push(*x); } v.sort(); v",
        "",
    ),
    (
        "i32",
        "const N: i32 = 3; const M: i32 = N + LIMIT; fn twice(n: i32) -> i32 { n * 2 + M } fn LIMIT2() -> i32 { twice(N) } const LIMIT: i32 = 10; twice(A & 7) + LIMIT2()",
        "const N: i32 = 99; fn twice(n: i32) -> i32 { n * 3 }",
    ),
    (
        "i32",
        "match A & 7 { N => 1, M => 2, _ => return N }; const N: i32 = 3; const M: i32 = 5; M + 1",
        "const N: i32 = 4;",
    ),
    (
        "i32",
        "fn fact(n: i32) -> i32 { if n < 2 { 1 } else { n * fact(n - 1) } } fact(Q)",
        "fn fact(n: i32) -> i32 { 77 }",
    ),
    ("i32", "fact(Q)", "fn fact(n: i32) -> i32 { if n < 2 { return 1; } n * fact(n - 1) }"),
    ("i32", "let add = |a, b| a * b; add(A & 7, B & 7)", ""),
    (
        "Option<i32>",
        "let x = first(V)?; Some(x + Q)",
        "fn first(v: Vec<i32>) -> Option<i32> { let x = v.first()?; if *x > 5 { return None; } Some(*x) }",
    ),
    ("Option<i32>", "let x = Some(A).filter(|x| *x > Q)?; Some(x + 1)", ""),
    ("i32", "Some(A).map(|x| x ^ 1).filter(|x| x % 2 == 0).map_or(B, |x| x + 1)", ""),
    ("i32", "None.or(Some(A)).and_then(|x: i32| x.checked_add(1)).unwrap_or_default()", ""),
    ("i32", "Some(A).map_or(None.unwrap(), |x| x)", ""),
    ("i32", "\"4Q\".parse::<i32>().unwrap() + \"-7\".parse::<i32>().unwrap_or(A)", ""),
    ("u8", "\"-0\".parse::<u8>().unwrap_or(Q) + \"300\".parse().unwrap_or(1) + \"+5\".parse::<u8>().unwrap()", ""),
    ("f32", "\"0.1\".parse::<f32>().unwrap() + \"1e3\".parse().unwrap_or(2.5)", ""),
    (
        "i32",
        "V.iter().sum::<i32>() ^ [A, B].iter().max().copied().unwrap() ^ V.iter().fold(1, |a, x| (a ^ x) % 100)",
        "",
    ),
    ("bool", "V.iter().any(|x| *x == A) || V.contains(&B) && [A, B].iter().all(|x| x % 2 == 0)", ""),
    ("Vec<i32>", "V.iter().zip([A, B]).map(|(x, y)| x ^ y).collect()", ""),
    ("Vec<i32>", "V.into_iter().flat_map(|x| [x, Q]).step_by(2).take_while(|x| *x != A).collect()", ""),
    ("Vec<i32>", "[Some(A), None, Some(B)].into_iter().flatten().filter_map(|x| x.checked_mul(3)).collect()", ""),
    ("Option<i32>", "V.iter().position(|x| *x == A).map(|i| i as i32)", ""),
    ("u8", "BYTE.wrapping_sub(200).saturating_add(Q) ^ 250u8.saturating_add(9) ^ 3u8.checked_sub(Q).unwrap_or(77)", ""),
    ("i8", "(-128i8).wrapping_add(-1) ^ (-128i8).saturating_sub(Q) ^ 100i8.wrapping_mul(Q)", ""),
    ("i8", "(-128i8).abs() + (-128i8) / -1 + -7i8.rem_euclid(3)", ""),
    ("i8", "let n = -7; let m: i8 = n; m.rem_euclid(3) + n / 2 + n % 3", ""),
    ("i64", "let n = 100; (n + 27) as i64 + n", ""),
    ("i64", "let n = 100; (n + 28) as i64 + 1", ""),
    ("u32", "let n = 5; let m = n - 6; let k: u32 = n; k", ""),
    ("i32", "let n = 5; let m = n - 6; m + A", ""),
    ("i32", "(1..=Q).map(|n| n * n).sum::<i32>() + (1..=3).product::<i32>()", ""),
    (
        "String",
        "T.replace(\"a\", \"bb\").split('-').map(|s| s.trim().to_uppercase()).collect::<Vec<_>>().join(\"+\")",
        "",
    ),
    ("String", "T.strip_prefix(\"a\").unwrap_or(\"none\").repeat(Q)", ""),
    ("String", "T.chars().rev().filter(|c| c.is_ascii_alphanumeric()).collect()", ""),
    ("String", "match T.split_once('-') { Some((a, b)) => format!(\"{b}{a}\"), None => T }", ""),
    ("i32", "match A { i32::MIN..=-1 => 1, 0 | 1 => 2, n @ 2..=50 => n, _ => 3 }", ""),
    ("i32", "match V.as_slice() { [] => 0, [x] => *x, [a, .., b] => a ^ b }", ""),
    (
        "i32",
        "match E::default() { E::High { n, .. } => n as i32, E::Mid(n) if n > 3 => n.into(), E::Mid(n @ 1..=2) => n as i32 * 100, _ => 2 }",
        "",
    ),
    ("i32", "let S { a, b, .. } = S::named(T); a + b.len() as i32", ""),
    ("i32", "let [a, b, ..] = [A, B, 3]; a ^ b", ""),
    ("i32", "if let Some(x) = Some(A) && x > Q && let Some(y) = V.first() { x ^ y } else { 4 }", ""),
    ("i32", "let mut o = Some(Q); if let Some(x) = &mut o { *x += 1; } o.unwrap()", ""),
    ("i32", "let mut v = V; for x in &mut v { *x += 1; } for x in v.iter_mut() { *x &= 7; } v[0]", ""),
    ("i32", "let mut v = V; let w = &v; let n = w.len() as i32; v.push(n); v[v.len() - 1]", ""),
    ("i32", "let mut o = Some(A); let t = o.take(); if o.is_none() { t.unwrap() } else { 1 }", ""),
    ("i32", "let (mut a, mut b) = (A, B); std::mem::swap(&mut a, &mut b); a", ""),
    (
        "std::cell::Cell<i32>",
        "let c = std::cell::Cell::new(Q); let d = &c; for i in 0..3 { d.set(d.get() + i); } c",
        "",
    ),
    ("i32", "let c = std::cell::RefCell::new(V); c.borrow_mut().push(A); let n = c.borrow().len(); n as i32", ""),
    (
        "i32",
        "let mut v = K(V); v.push(A); v.0.len() as i32 + v.len() as i32",
        "struct K(Vec<i32>); impl K { fn push(&mut self, _: i32) {} fn len(&self) -> usize { 50 } }",
    ),
    (
        "i32",
        "let mut v = K(V); v.push(A); v.len() as i32",
        "struct K(Vec<i32>); impl std::ops::Deref for K { type Target = Vec<i32>; fn deref(&self) -> &Vec<i32> { &self.0 } } impl std::ops::DerefMut for K { fn deref_mut(&mut self) -> &mut Vec<i32> { &mut self.0 } }",
    ),
    (
        "i32",
        "let mut k = K(Q); k += 2; k.0",
        "struct K(i32); impl std::ops::AddAssign<i32> for K { fn add_assign(&mut self, n: i32) { self.0 = n * 50; } }",
    ),
    (
        "i32",
        "let mut k = K([1, 2]); k[0] = A; k.0[0]",
        "struct K([i32; 2]); impl std::ops::Index<usize> for K { type Output = i32; fn index(&self, _: usize) -> &i32 { &self.0[1] } } impl std::ops::IndexMut<usize> for K { fn index_mut(&mut self, _: usize) -> &mut i32 { &mut self.0[1] } }",
    ),
    (
        "i32",
        "let mut n = Q; for x in K { n += x; } n",
        "struct K; impl IntoIterator for K { type Item = i32; type IntoIter = std::vec::IntoIter<i32>; fn into_iter(self) -> Self::IntoIter { vec![7, 8].into_iter() } }",
    ),
    ("usize", "let n = 1; let v = vec![A, B]; let w: Vec<usize> = vec![n; 2]; v.len() + w[0] + n", ""),
    ("bool", "let n = 127; let m: i8 = n; n + 1 > 0 && m > 0", ""),
    ("u16", "let n = 100; let list = [n, 27]; let m: u16 = list[0]; list.iter().sum::<u16>() + m", ""),
    // Common code, and similar code.
    ("String", "const PREFIX: &str = \"app\"; format!(\"{PREFIX}-{}\", Q)", ""),
    ("String", "[\"a\", \"b\"].concat() + \"-\" + NAME", ""),
    ("String", "let parts = vec![\"x\".to_string(), T]; parts.join(\"/\")", ""),
    ("String", "let mut s = String::with_capacity(10); s.push_str(\"a\"); s += \"b\"; s += &T; s", ""),
    ("String", "format!(\"{:03}|{:>4}|{:<4}|{:x}|{:#b}\", Q, 5, 6, 255, 5)", ""),
    ("String", "format!(\"{:?} {:?}\", T, Some(Q))", ""),
    ("String", "format!(\"{:.2} {:.0} {}\", FULL, 2.5, 1e21)", ""),
    ("String", "format!(\"{0}{1}{0}\", A, 'x')", ""),
    ("String", "format!(\"{n:>w$}\", n = 5, w = Q)", ""),
    ("String", "f64::from(HALF).to_string() + &1.0f64.to_string() + &1e15.to_string() + &f32::MAX.to_string()", ""),
    ("String", "(b'a' + Q) .to_string() + &((b'a' + Q) as char).to_string()", ""),
    ("String", "stringify!(a).to_owned() + concat!(\"x\", 1, true, 'c', -2) + env!(\"CARGO_PKG_NAME\")", ""),
    ("String", "String::from_utf8(vec![104, 105]).unwrap()", ""),
    ("String", "std::str::from_utf8(b\"hi\").unwrap().into()", ""),
    ("String", "\"Straße\".to_uppercase() + &\"ÀB\".to_lowercase()", ""),
    ("String", "\"a,b;c\".split(|c| c == ',' || c == ';').rev().collect::<Vec<_>>().join(\"\")", ""),
    ("String", "\"abc\"[1..].to_string() + &\"xyz\"[..1]", ""),
    ("String", "S::named(T).b + S::default().b.as_str()", ""),
    ("String", "N::from(NAME).0", ""),
    ("String", "let n = N::from(\"x\"); let N(inner) = n; inner", ""),
    (
        "String",
        "D1(Q).to_string()",
        "pub struct D1(u8); impl std::fmt::Display for D1 { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, \"<{}>\", self.0) } }",
    ),
    (
        "String",
        "D1::from_str(\"x\").unwrap().0",
        "use std::str::FromStr; pub struct D1(String); impl FromStr for D1 { type Err = (); fn from_str(s: &str) -> Result<Self, ()> { Ok(D1(s.repeat(2))) } }",
    ),
    (
        "String",
        "describe(E::High { n: 4 })",
        "fn describe(e: E) -> String { match e { E::Low => \"low\".into(), E::Mid(n) if n > 3 => format!(\"mid{n}\"), E::Mid(_) => String::from(\"mid\"), E::High { n } => { let twice = n * 2; format!(\"high{twice}\") } } }",
    ),
    ("u32", "60 * 60 * 24 * Q", ""),
    ("u32", "Duration::from_secs(90).as_secs() as u32", "use std::time::Duration;"),
    ("std::time::Duration", "std::time::Duration::from_millis(1500) * Q", ""),
    ("std::time::Duration", "std::time::Duration::from_secs(60 * Q)", ""),
    ("std::time::Duration", "LIMIT", "const LIMIT: std::time::Duration = std::time::Duration::from_millis(2500);"),
    ("u64", "u64::pow(2, Q) + u64::from(BYTE) + u64::MAX / 1000", ""),
    ("u64", "1u64.checked_shl(70).unwrap_or(Q)", ""),
    ("u64", "i64::MAX as u64 + 2 * (u32::MAX as u64)", ""),
    ("u16", "u16::try_from(A & 0xff).unwrap_or(9) + u16::try_from(70000).unwrap_or(3)", ""),
    ("u8", "u8::from_str_radix(\"1f\", 16).unwrap() + u8::from(true)", ""),
    ("i32", "i32::from_str_radix(\"-11\", 2).unwrap_or(0) + \"12\".parse::<i32>().map(|n| n * 2).unwrap()", ""),
    ("u8", "[1, 2, 3].iter().copied().max().unwrap() + [9u8, Q].into_iter().min().unwrap_or(0)", ""),
    ("usize", "NAME.len() + V.len() + \"ä\".len() + \"ä\".chars().count()", ""),
    ("usize", "std::mem::size_of::<u64>() + std::mem::align_of::<u8>()", ""),
    ("i64", "i64::from(SHORT) + i64::from(INT) - (BYTE as i64)", ""),
    ("f64", "f64::from(Q as u8) / 3.0 + 0.1 + 0.2", ""),
    ("f64", "std::f64::consts::PI * 2.0", ""),
    ("f64", "(2.5f64).round() + 7.9f64.floor() + 1.2f64.ceil() + (-3.5f64).abs() + 9f64.sqrt()", ""),
    ("f64", "[0.5, 0.25].iter().sum::<f64>() + 1.5f64.max(2.5).min(2.0)", ""),
    ("f64", "f64::EPSILON + f64::MAX / 1e300", ""),
    ("f32", "1.1 * 1.1", ""),
    ("f32", "let x = 0.3; let y = x * 3.0; y", ""),
    ("bool", "cfg!(debug_assertions) || A > B", ""),
    ("bool", "matches!(E::default(), E::Mid(1..=3)) ^ matches!(Some(A), Some(n) if n > 5)", ""),
    ("bool", "NAME.starts_with(\"na\") && !NAME.is_empty() && T.contains('b')", ""),
    ("bool", "(A, \"x\") == (A, \"x\") && [1, 2] < [1, 3] && Some(1) > None", ""),
    ("bool", "S::of(A) == S::of(A) && S::of(1) < S::of(2)", ""),
    ("bool", "V.iter().rev().eq(V.iter())", ""),
    ("Vec<String>", "[\"b\", \"a\"].iter().map(|s| s.to_string()).collect()", ""),
    ("Vec<String>", "\"a,b,,c\".split(',').filter(|s| !s.is_empty()).map(str::to_owned).collect()", ""),
    ("Vec<String>", "vec![\"x\"; Q].into_iter().enumerate().map(|(i, s)| format!(\"{s}{i}\")).collect()", ""),
    ("Vec<String>", "let mut v = Vec::from([T, T]); v.sort_by(|a, b| b.cmp(a)); v", ""),
    ("Vec<String>", "let mut v = vec![\"bb\".to_string(), \"a\".to_string()]; v.sort_by_key(|s| s.len()); v", ""),
    ("Vec<u8>", "b\"ab\".to_vec()", ""),
    ("Vec<u8>", "\"ab\".bytes().chain(std::iter::once(Q)).collect()", ""),
    ("Vec<u8>", "std::iter::repeat(Q).take(3).collect()", ""),
    ("Vec<u8>", "std::iter::successors(Some(1u8), |n| n.checked_mul(3)).collect()", ""),
    ("Vec<u8>", "(1..).take(3).map(|n| n * Q).collect()", ""),
    ("Vec<u8>", "vec![3, 1, 2].into_iter().rev().skip(1).collect()", ""),
    ("Vec<u8>", "let v: Vec<u8> = vec![1, 2, 3]; v[1..].to_vec()", ""),
    ("Vec<u8>", "[[1, 2], [3, Q]].concat()", ""),
    ("Vec<u8>", "[[1, 2], [3, Q]].iter().flatten().copied().collect()", ""),
    ("Vec<Vec<u8>>", "vec![vec![1; 2]; 2]", ""),
    ("Vec<Vec<i32>>", "V.chunks(2).map(|c| c.to_vec()).collect()", ""),
    ("Vec<i32>", "let (a, b): (Vec<i32>, Vec<i32>) = V.into_iter().partition(|x| *x > 0); [b, a].concat()", ""),
    ("Vec<i32>", "V.iter().scan(0, |a, x| { *a += x & 7; Some(*a) }).collect()", ""),
    ("Vec<i32>", "let mut v = V; v.drain(..1); v", ""),
    ("Vec<i32>", "let mut v = V; let w = v.split_off(1); v.append(&mut w.clone()); v", ""),
    ("Vec<i32>", "let v = V; let [first, ..] = v[..] else { return vec![] }; vec![first]", ""),
    ("Vec<S>", "(0..Q).map(|i| S { a: i, ..Default::default() }).collect()", ""),
    ("Vec<S>", "vec![S::of(1), S { b: T, ..S::default() }]", ""),
    ("Vec<E>", "vec![E::Low, E::default(), E::High { n: -1 }]", ""),
    ("Option<Vec<String>>", "Some(vec![T])", ""),
    ("Option<u16>", "Some(8080).filter(|p| *p > 1024)", ""),
    ("Option<u16>", "S::of(A).d.or(Some(S::MOST)).map(|p| p + 1)", ""),
    ("Option<Box<S>>", "Some(Box::new(S::of(A)))", ""),
    (
        "std::collections::BTreeMap<String, String>",
        "std::collections::BTreeMap::from([(\"app\".into(), \"x\".into()), (\"a\".into(), T)])",
        "",
    ),
    (
        "std::collections::BTreeMap<String, String>",
        "let mut m = std::collections::BTreeMap::new(); m.insert(\"a\".to_string(), T); m.insert(\"b\".into(), format!(\"{}\", m.len())); m",
        "",
    ),
    (
        "std::collections::BTreeMap<String, Vec<u8>>",
        "[(\"x\", vec![1]), (\"y\", vec![])].map(|(k, v)| (k.to_string(), v)).into()",
        "",
    ),
    (
        "std::collections::BTreeMap<String, u8>",
        "let mut m = std::collections::BTreeMap::new(); for w in [\"a\", \"b\", \"a\"] { *m.entry(w.to_string()).or_insert(0) += 1; } m",
        "",
    ),
    ("std::collections::BTreeMap<String, u8>", "[\"a\", \"b\"].into_iter().map(String::from).zip(1..).collect()", ""),
    ("std::collections::BTreeMap<u8, bool>", "(0..Q).map(|n| (n, n % 2 == 0)).collect()", ""),
    ("std::collections::HashMap<String, u8>", "std::collections::HashMap::from([(T, 1)])", ""),
    ("std::collections::BTreeSet<u8>", "[3, 1, 3, Q].into_iter().collect()", ""),
    (
        "std::collections::BTreeSet<u8>",
        "let mut s = std::collections::BTreeSet::new(); s.insert(3); s.insert(Q); s",
        "",
    ),
    (
        "std::collections::BTreeSet<E1>",
        "[E1::B, E1::A].into()",
        "#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)] pub enum E1 { A, B }",
    ),
    ("(u8, String)", "let t = (Q, T); let (n, s) = t; (n + 1, s)", ""),
    ("[u8; 4]", "let mut a = [0u8; 4]; for (i, x) in a.iter_mut().enumerate() { *x = i as u8; } a", ""),
    ("[u8; 4]", "[Q, 2, 3, 4].map(|x| x * 2)", ""),
    ("[u8; 2]", "std::array::from_fn(|i| i as u8 + Q)", ""),
    ("S", "S { a: <i32 as Default>::default() + A, b: <_>::default(), c: Vec::new(), d: None }", ""),
    ("S", "let base = S::of(A); S { b: base.b.clone() + \"x\", c: vec![1], ..base }", ""),
    (
        "S",
        "Builder::new().a(A).b(\"x\").build()",
        "pub struct Builder { s: S } impl Builder { fn new() -> Self { Builder { s: S::default() } } fn a(mut self, a: i32) -> Self { self.s.a = a; self } fn b(self, b: &str) -> Self { Builder { s: S { b: b.to_string(), ..self.s } } } fn build(self) -> S { self.s } }",
    ),
    ("S", "let mut s = S::default(); set(&mut s, A); s", "fn set(s: &mut S, a: i32) { s.a = a; }"),
    ("S", "let mut s = S::default(); s.set(A); s", "impl S { fn set(&mut self, a: i32) { self.a = a; } }"),
    ("S", "S::of(A).with(T)", "impl S { fn with(mut self, b: String) -> Self { self.b = b; self } }"),
    ("S", "(S::of(A), 1).into()", "impl From<(S, i32)> for S { fn from((s, n): (S, i32)) -> S { S { a: n, ..s } } }"),
    (
        "S",
        "<S as Make>::make(A)",
        "trait Make { fn make(a: i32) -> Self; } impl Make for S { fn make(a: i32) -> S { S::of(a) } }",
    ),
    (
        "i32",
        "<S as Tr>::Out::default() + <S as Tr>::N + S::N2",
        "trait Tr { type Out; const N: i32; const N2: i32 = 4; } impl Tr for S { type Out = i32; const N: i32 = Q; }",
    ),
    ("i32", "let f: fn(i32) -> i32 = |x| x + 1; f(A & 7)", ""),
    ("i32", "apply(|x| x * 2, A & 7)", "fn apply(f: impl Fn(i32) -> i32, n: i32) -> i32 { f(n) + 1 }"),
    (
        "i32",
        "apply(twice, A & 7)",
        "fn twice(n: i32) -> i32 { n * 2 } fn apply<F: Fn(i32) -> i32>(f: F, n: i32) -> i32 { f(n) + 1 }",
    ),
    ("i32", "sum(&[1, 2, Q])", "fn sum(v: &[i32]) -> i32 { let mut n = 0; for x in v { n += *x; } n }"),
    (
        "i32",
        "largest(&V)",
        "fn largest(v: &[i32]) -> i32 { let mut m = i32::MIN; for &x in v.iter() { if x > m { m = x; } } m }",
    ),
    ("i32", "gcd(48, Q * 6)", "const fn gcd(a: i32, b: i32) -> i32 { if b == 0 { a } else { gcd(b, a % b) } }"),
    (
        "i32",
        "TABLE[Q % 3] + TABLE.len() as i32",
        "const TABLE: [i32; 3] = { let mut t = [0; 3]; let mut i = 0; while i < 3 { t[i] = (i * i) as i32; i += 1; } t };",
    ),
    (
        "i32",
        "N3 + Self1::N4",
        "const N3: i32 = if Q > 3 { 1 } else { 2 }; struct Self1; impl Self1 { const N4: i32 = match Q { 1 => 10, 2..=4 => 20, _ => 30 }; }",
    ),
    ("i32", "match (A > 0, B > 0) { (true, true) => 1, (true, false) | (false, true) => 2, _ => 3 }", ""),
    ("i32", "match T.as_str() { \"a\" => 1, \"\" => 2, s if s.len() > 2 => 3, _ => 4 }", ""),
    ("i32", "match 'x' { 'a'..='m' => 1, 'n'..='z' => 2, _ => 3 }", ""),
    ("i32", "let x = 5; let x = x * 2; let y = { let x = x + 1; x * 2 }; x + y + A", ""),
    ("i32", "let t = S::of(A); let r = &t; let S { a, .. } = r; *a + r.a()", ""),
    ("i32", "let b = Box::new(A); *b + 1", ""),
    ("i32", "let v = vec![S::of(A), S::of(3)]; v.iter().map(|s| s.a & 7).sum::<i32>() + v[1].a()", ""),
    ("i32", "let o: Option<&S> = None; o.map(|s| s.a).unwrap_or(Q)", ""),
    ("i32", "let r: Result<i32, String> = Ok(A); r.unwrap_or(1)", ""),
    (
        "i32",
        "checked(Q).unwrap_or_else(|e| e.len() as i32)",
        "fn checked(n: i32) -> Result<i32, String> { if n > 3 { Err(format!(\"too big: {n}\")) } else { Ok(n) } }",
    ),
    (
        "i32",
        "if let Ok(n) = checked(Q) { n } else { -1 }",
        "fn checked(n: i32) -> Result<i32, String> { if n > 3 { return Err(\"x\".into()); } Ok(n) }",
    ),
    ("i32", "use std::collections::BTreeMap; let m: BTreeMap<i32, i32> = BTreeMap::from([(1, A)]); m[&1]", ""),
    ("i32", "struct L { n: i32 } let l = L { n: A }; l.n", ""),
    ("i32", "enum L { X, Y(i32) } match L::Y(Q) { L::X => 1, L::Y(n) => n }", ""),
    ("i32", "assert!(Q > 0, \"never\"); debug_assert_eq!(1 + 1, 2); A", ""),
    ("i32", "if Q > 99 { panic!(\"never\") } else if Q > 98 { unreachable!() } A", ""),
    ("i32", "let n: i32; { n = A; } n", ""),
    ("i32", "#[allow(unused)] let n = 1; #[rustfmt::skip] let m = A; m", ""),
    ("i32", "let n = (|| A + 1)(); n", ""),
    ("i32", "unsafe { A + 1 }", ""),
    ("i32", "std::cmp::max(A, B) - std::cmp::min(A, 3)", ""),
    ("i32", "A.pow(2) % 1000 + A.signum() + (A - B).abs()", ""),
    ("i32", "i32::max(A, B) + i32::abs(A / 2) + <i32>::min_value() / 1000 + Ord::max(1, 2)", ""),
    ("i32", "A.cmp(&B) as i32", ""),
    ("serde_json::Value", "let n = Q; serde_json::json!({ \"n\": n, \"list\": [n + 1, \"x\"], \"s\": S::of(A) })", ""),
    ("serde_json::Value", "let mut v = serde_json::json!({}); v[\"a\"] = serde_json::json!(Q); v", ""),
    (
        "E2",
        "E2::Http { port: 80 + Q }",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] #[serde(rename_all = \"camelCase\", tag = \"type\")] pub enum E2 { Http { #[serde(rename = \"Port\")] port: u16 }, TcpSocket }",
    ),
    (
        "E2",
        "E2::TcpSocket",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] #[serde(rename_all(serialize = \"SCREAMING_SNAKE_CASE\", deserialize = \"kebab-case\"))] pub enum E2 { Http, TcpSocket }",
    ),
    (
        "S2",
        "S2 { some_name: Some(Q), none: None, skipped: 1, flat: In2 { x_y: 3 } }",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] #[serde(rename_all = \"camelCase\")] pub struct S2 { some_name: Option<u8>, #[serde(skip_serializing_if = \"Option::is_none\")] none: Option<u8>, #[serde(skip)] skipped: u8, #[serde(flatten)] flat: In2 } #[derive(Debug, Deserialize, Serialize, JsonSchema)] pub struct In2 { x_y: u8 }",
    ),
    (
        "S2",
        "Default::default()",
        "#[derive(Debug, Deserialize, Serialize, JsonSchema)] pub struct S2 { n: u8, v: Vec<In2> } #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)] pub struct In2(u8); impl Default for S2 { fn default() -> Self { let mut v = vec![]; for i in 0..3 { v.push(In2(i)); } Self { n: v.len() as u8, v } } }",
    ),
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

/// Methods that opctl assumes to be those of std if no trait of the crate has them.
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
        // Items come in either order, since macros only apply to the following items.
        let text = format!("{ITEMS}\n{items}\npub fn value() -> {ty} {{ {body} }}\n");
        Self { seed, ty, text: replaced(&text, "Q", &number) }
    }
}

/// Splits at the first occurrence of a whole word.
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
