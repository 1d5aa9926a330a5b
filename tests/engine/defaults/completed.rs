//! Locals that statements of their block complete, and bodies that are left early.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsCompleted")]
pub struct Spec {
    #[serde(default)]
    pub built: Built,
    #[serde(default = "with")]
    pub with: Built,
    #[serde(default = "nested")]
    pub nested: Outer,
    #[serde(default = "before")]
    pub before: u32,
    #[serde(default = "shadowed")]
    pub shadowed: u32,
    #[serde(default = "found")]
    pub found: Option<u8>,
    #[serde(default = "unequal")]
    pub unequal: u8,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Built {
    pub size: u32,
    pub parts: Vec<String>,
}

impl Built {
    fn new() -> Self {
        Self { size: 1, parts: Vec::new() }
    }

    fn with(mut self, part: &str) -> Self {
        self.parts = vec![part.to_string(), self.size.to_string()];
        self.size = self.size * 2;
        self
    }
}

impl Default for Built {
    fn default() -> Self {
        let mut built = Self::new();
        built.size = 300;
        built.parts = vec!["a".into()];
        built.size = built.size + built.parts.len() as u32;
        built
    }
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Outer {
    pub inner: Built,
    pub name: Option<String>,
}

fn with() -> Built {
    Built::new().with("a").with("b")
}

fn nested() -> Outer {
    let mut outer = Outer::default();
    outer.inner.size = 7;
    outer.name = Some("x".to_string());
    outer
}

fn before() -> u32 {
    let mut built = Built::new();
    let before = built.clone();
    let size = move || built.size;
    built.size = 9;
    before.size * 100 + built.size * 10 + size()
}

fn shadowed() -> u32 {
    let built = Built::new();
    let inner = {
        let mut built = built.clone();
        built.size = 5;
        built.size
    };
    built.size * 10 + inner
}

fn found() -> Option<u8> {
    let list = [3u8, 8u8, 12u8];
    let first = list.first()?;
    let Some(fourth) = list.iter().find(|n| *n % 4 == 0) else {
        return None;
    };
    if fourth > first {
        return Some(fourth - first);
    }
    None
}

fn unequal() -> u8 {
    match found() {
        None => return 1,
        Some(n) if n > 9 => n,
        Some(n) => n * 2,
    }
}
