//! Random kinds: types that rustc, serde, schemars and kube accept, in modules that import from each other.
//!
//! Nothing is generated that the derives reject. Types for which `crd()` panics are rare, since the panic hides the
//! rest of their kind.

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
    /// The module of the kind, at the root of its crate.
    pub module: String,
    /// The type that kube generates, by its path below that module.
    pub root: String,
    /// Texts by their paths below `src`.
    pub files: BTreeMap<String, String>,
    /// The number of structs and enums.
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

    /// The text of a module. Its child modules are inline or in their own files.
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
            // rustc would look for the file of a child of an inline module below that module's folder.
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

/// Indents by one level.
pub fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("    {line}\n") }).collect()
}
