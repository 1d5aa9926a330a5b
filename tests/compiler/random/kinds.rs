//! Random kinds: types that rustc, serde, schemars and kube take, in modules that import from each other.
//!
//! What their derives refuse is not made; what makes `crd()` panic is made seldom, for it hides the rest of its kind.

mod attributes;
mod declarations;
pub mod dice;
mod types;
mod values;
mod world;

use std::collections::BTreeMap;

use world::World;

pub struct Kind {
    pub seed: u64,
    /// The module that it is in, at the root of its crate.
    pub module: String,
    /// The type that kube makes, by its path below that module.
    pub root: String,
    /// By their paths below `src`.
    pub files: BTreeMap<String, String>,
    /// How many structs and enums it has.
    pub types: usize,
}

impl Kind {
    pub fn new(seed: u64, module: String) -> Self {
        let mut world = World::new(seed, module);
        for _ in 0..world.dice.between(3, 9) {
            world.any_type();
        }
        let root = world.spec();
        Self { seed, module: world.name.clone(), root, types: world.count(), files: world.files() }
    }
}

impl World {
    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let text = self.module_text(0, &mut files);
        files.insert(format!("{}.rs", self.name), format!("#![allow(warnings)]\n{text}"));
        files
    }

    /// What stands in a module; its children are in it, or in files of their own.
    fn module_text(&self, module: usize, files: &mut BTreeMap<String, String>) -> String {
        let here = &self.modules[module];
        let mut text = String::from("use kube::{CustomResource, KubeSchema};\nuse schemars::JsonSchema;\n");
        text += "use serde::{Deserialize, Serialize};\n";
        for line in &here.uses {
            text += &format!("{line}\n");
        }
        let children = (0..self.modules.len()).filter(|child| {
            let path = &self.modules[*child].path;
            path.len() == here.path.len() + 1 && path.starts_with(&here.path)
        });
        for child in children {
            let inner = self.module_text(child, files);
            let child = &self.modules[child];
            let name = child.path.last().unwrap();
            // A file below an inline module would be looked for below that module's folder, too.
            if child.own_file && child.path.len() == 1 {
                let file = format!("{}/{}.rs", self.name, name.trim_start_matches("r#"));
                text += &format!("\npub mod {name};\n");
                files.insert(file, inner);
            } else {
                text += &format!("\npub mod {name} {{\n{}}}\n", indented(&inner));
            }
        }
        for item in &here.items {
            text += &format!("\n{item}");
        }
        text
    }
}

/// One level deeper.
pub fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("    {line}\n") }).collect()
}
