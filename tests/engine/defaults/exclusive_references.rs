use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsExclusiveReferences")]
pub struct Spec {
    #[serde(default = "mutual_swap::d")]
    pub mutual_swap: Vec<u32>,
    #[serde(default = "recursion::d")]
    pub recursion: u32,
    #[serde(default = "returned_early::d")]
    pub returned_early: Vec<u32>,
    #[serde(default = "methods::d")]
    pub methods: u32,
    #[serde(default = "itself::d")]
    pub itself: u32,
    #[serde(default = "in_turn::d")]
    pub in_turn: Vec<u32>,
    #[serde(default = "entries::d")]
    pub entries: std::collections::BTreeMap<String, Vec<u32>>,
    #[serde(default = "in_turn_of_map::d")]
    pub in_turn_of_map: std::collections::BTreeMap<String, u32>,
    #[serde(default = "written::d")]
    pub written: String,
    #[serde(default = "taken::d")]
    pub taken: Vec<u32>,
    #[serde(default = "replaced::d")]
    pub replaced: String,
    #[serde(default = "counted::d")]
    pub counted: Vec<u32>,
    #[serde(default = "inserted::d")]
    pub inserted: String,
    #[serde(default = "of_a_pair::d")]
    pub of_a_pair: Vec<u32>,
    #[serde(default = "popped::d")]
    pub popped: u32,
    #[serde(default = "removed::d")]
    pub removed: u32,
}

mod mutual_swap {
    fn f(a: &mut Vec<u32>, b: &mut Vec<u32>) {
        a.push(1);
        b.push(2);
        let t = a.len();
        b.push(t as u32);
        std::mem::swap(a, b);
    }
    pub fn d() -> Vec<u32> {
        let mut a = vec![];
        let mut b = vec![];
        f(&mut a, &mut b);
        a.extend(b);
        a
    }
}

mod recursion {
    fn inc(n: &mut u32) {
        *n += 1;
        if *n < 5 {
            inc(n);
        }
    }
    pub fn d() -> u32 {
        let mut n = 1;
        inc(&mut n);
        n
    }
}

mod returned_early {
    fn add(v: &mut Vec<u32>) -> usize {
        if v.len() > 1 {
            return 7;
        }
        v.push(1);
        v.len()
    }
    pub fn d() -> Vec<u32> {
        let mut v = vec![0];
        let n = add(&mut v);
        let m = add(&mut v);
        v.push(n as u32);
        v.push(m as u32);
        v
    }
}

mod methods {
    struct C {
        n: u32,
        log: Vec<u32>,
    }
    impl C {
        fn step(&mut self, by: u32) {
            self.n += by;
            self.log.push(self.n);
        }
        fn total(&self) -> u32 {
            self.log.iter().sum()
        }
    }
    pub fn d() -> u32 {
        let mut c = C { n: 0, log: vec![] };
        c.step(2);
        c.step(3);
        for i in 0..3 {
            c.step(i);
        }
        c.total()
    }
}

mod itself {
    #[derive(Clone)]
    struct C {
        n: u32,
    }
    impl C {
        fn bump(&mut self) {
            *self = C { n: self.n + 1 };
        }
    }
    pub fn d() -> u32 {
        let mut c = C { n: 0 };
        let before = c.clone();
        c.bump();
        c.bump();
        before.n * 100 + c.n
    }
}

mod in_turn {
    pub fn d() -> Vec<u32> {
        let mut v = vec![vec![1], vec![2]];
        for x in v.iter_mut() {
            x.push(5);
            for y in x.iter_mut() {
                *y += 1;
            }
        }
        v.concat()
    }
}

mod entries {
    use std::collections::BTreeMap;
    pub fn d() -> BTreeMap<String, Vec<u32>> {
        let mut m: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (i, w) in ["b", "a", "b"].iter().enumerate() {
            m.entry(w.to_string()).or_default().push(i as u32);
        }
        m.entry("z".into()).or_insert_with(|| vec![7]);
        m
    }
}

mod in_turn_of_map {
    use std::collections::BTreeMap;
    pub fn d() -> BTreeMap<String, u32> {
        let mut m = BTreeMap::from([("b".to_string(), 1), ("a".to_string(), 2)]);
        for (_, v) in m.iter_mut() {
            *v += 10;
        }
        for v in m.values_mut() {
            *v *= 2;
        }
        m
    }
}

mod written {
    use std::fmt::Write as _;
    fn render(out: &mut String, n: u32) -> std::fmt::Result {
        if n == 0 {
            return Ok(());
        }
        write!(out, "{n},")?;
        render(out, n - 1)
    }
    pub fn d() -> String {
        let mut s = String::new();
        render(&mut s, 3).unwrap();
        s
    }
}

mod taken {
    pub fn d() -> Vec<u32> {
        let mut v = vec![3, 1, 2];
        let w = std::mem::take(&mut v);
        let mut x = w;
        x.push(v.len() as u32);
        x
    }
}

mod replaced {
    pub fn d() -> String {
        let mut s = "ab".to_string();
        let old = std::mem::replace(&mut s, "c".into());
        s + &old
    }
}

mod counted {
    pub fn d() -> Vec<u32> {
        let mut v = vec![1, 2, 3];
        for (i, x) in v.iter_mut().enumerate() {
            *x += i as u32;
        }
        v
    }
}

mod inserted {
    fn wrap(s: &mut String) {
        s.insert(0, '<');
        s.push('>');
        s.insert_str(1, "é");
        let c = s.remove(1);
        s.push(c);
        s.truncate(3);
    }
    pub fn d() -> String {
        let mut s = String::from("x");
        wrap(&mut s);
        s
    }
}

mod of_a_pair {
    struct Q {
        items: Vec<u32>,
    }
    impl Q {
        fn push(&mut self, n: u32) {
            self.items.insert(0, n);
        }
    }
    pub fn d() -> Vec<u32> {
        let mut q = Q { items: vec![1] };
        q.push(2);
        q.push(3);
        q.items
    }
}

mod popped {
    pub fn d() -> u32 {
        let mut stack = vec![1, 2, 3];
        let mut sum = 0;
        while let Some(x) = stack.pop() {
            sum += x;
            if x == 3 {
                stack.push(10);
            }
        }
        sum
    }
}

mod removed {
    use std::collections::BTreeMap;
    pub fn d() -> u32 {
        let mut m = BTreeMap::new();
        let old = m.insert("a", 1).is_none();
        let r = m.remove("a").unwrap_or(0);
        m.insert("b", r);
        m.len() as u32 * 10 + r + old as u32
    }
}
