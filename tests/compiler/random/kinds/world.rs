//! The modules and types of a random kind: declarations, their properties, and their names in each module.

use std::collections::{BTreeMap, BTreeSet};

use super::dice::Dice;

/// A type in a field.
#[derive(Clone, Debug)]
pub enum Ty {
    Scalar(&'static str),
    /// A type by its full path, with arguments.
    Foreign(&'static str, Vec<Ty>),
    /// A declared type by its index, with arguments.
    Declared(usize, Vec<Ty>),
    /// The type parameter of the enclosing declaration.
    Parameter,
    Array(Box<Ty>, usize),
    Tuple(Vec<Ty>),
}

pub struct Declared {
    pub name: String,
    pub module: usize,
    pub shape: Shape,
    /// The type implements `Default`.
    pub default: bool,
    pub used: bool,
}

#[derive(Clone)]
pub enum Shape {
    /// Named fields, all public.
    Struct(Vec<(String, Ty)>),
    Newtype(Ty),
    /// An enum with these unit variants only, so it can be a key.
    Units(Vec<String>),
    /// An enum with data, or a type with a manual schema.
    Opaque,
    /// A type with one type parameter.
    Generic,
    Alias(Ty),
    GenericAlias,
}

pub struct Module {
    /// The path below the kind's module.
    pub path: Vec<&'static str>,
    pub uses: BTreeSet<String>,
    /// The paths of imported names.
    names: BTreeMap<String, String>,
    pub items: Vec<String>,
    pub own_file: bool,
}

pub struct World {
    pub dice: Dice,
    /// The module of the kind in its crate.
    pub name: String,
    pub modules: Vec<Module>,
    pub types: Vec<Declared>,
    counter: usize,
}

/// The possible modules of a kind, each parent before its children.
const MODULES: [&[&str]; 5] = [&[], &["spec"], &["common"], &["common", "meta"], &["r#type"]];

impl World {
    pub fn new(seed: u64, name: String) -> Self {
        let mut dice = Dice::new(seed);
        let count = dice.between(1, MODULES.len());
        let modules = MODULES[..count].iter().map(|path| Module {
            path: path.to_vec(),
            uses: BTreeSet::new(),
            names: BTreeMap::new(),
            items: Vec::new(),
            own_file: dice.percent(40),
        });
        Self { modules: modules.collect(), dice, name, types: Vec::new(), counter: 0 }
    }

    /// A unique number for a name.
    pub fn number(&mut self) -> usize {
        self.counter += 1;
        self.counter
    }

    /// The number of structs and enums.
    pub fn count(&self) -> usize {
        self.types.iter().filter(|ty| !matches!(ty.shape, Shape::Alias(_) | Shape::GenericAlias)).count()
    }

    pub fn any_module(&mut self) -> usize {
        self.dice.below(self.modules.len())
    }

    pub fn declare(&mut self, name: String, module: usize, shape: Shape, default: bool) {
        self.types.push(Declared { name, module, shape, default, used: false });
    }

    pub fn item(&mut self, module: usize, text: String) {
        self.modules[module].items.push(text);
    }

    /// `true` if `T::default()` exists.
    pub fn has_default(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Scalar("&'static str") => false,
            Ty::Scalar(_) => true,
            Ty::Foreign(path, arguments) => match *path {
                "std::net::IpAddr"
                | "std::net::Ipv4Addr"
                | "std::net::SocketAddr"
                | "std::num::NonZeroU16"
                | "std::num::NonZeroI32"
                | "std::time::SystemTime"
                | "kube::core::Duration" => false,
                "std::boxed::Box" | "std::sync::Arc" | "std::rc::Rc" | "std::num::Wrapping" => {
                    self.has_default(&arguments[0])
                }
                path => !path.ends_with("v1::Time") && !path.ends_with("v1::Condition"),
            },
            Ty::Declared(index, arguments) => match &self.types[*index].shape {
                Shape::Alias(ty) => self.has_default(ty),
                // A `Vec` or a map of it.
                Shape::GenericAlias => true,
                Shape::Generic => self.types[*index].default && arguments.iter().all(|ty| self.has_default(ty)),
                _ => self.types[*index].default,
            },
            Ty::Parameter => false,
            Ty::Array(element, _) => self.has_default(element),
            Ty::Tuple(types) => types.iter().all(|ty| self.has_default(ty)),
        }
    }

    /// The type with aliases resolved.
    pub fn behind<'a>(&'a self, ty: &'a Ty) -> &'a Ty {
        match ty {
            Ty::Declared(index, _) => match &self.types[*index].shape {
                Shape::Alias(ty) => self.behind(ty),
                _ => ty,
            },
            _ => ty,
        }
    }

    /// The type as written in a module.
    pub fn written(&mut self, ty: &Ty, module: usize) -> String {
        match ty {
            Ty::Scalar(name) => {
                if self.dice.percent(3) && *name == "String" {
                    "std::string::String".into()
                } else {
                    (*name).into()
                }
            }
            Ty::Parameter => "T".into(),
            Ty::Array(element, length) => format!("[{}; {length}]", self.written(element, module)),
            Ty::Tuple(types) => {
                let types: Vec<String> = types.iter().map(|ty| self.written(ty, module)).collect();
                format!("({})", types.join(", "))
            }
            Ty::Foreign(path, arguments) => {
                let name = self.foreign(path, module);
                let mut arguments: Vec<String> = arguments.iter().map(|ty| self.written(ty, module)).collect();
                if *path == "std::borrow::Cow" {
                    arguments.insert(0, "'static".into());
                }
                if arguments.is_empty() { name } else { format!("{name}<{}>", arguments.join(", ")) }
            }
            Ty::Declared(index, arguments) => {
                let name = self.declared(*index, module);
                let arguments: Vec<String> = arguments.iter().map(|ty| self.written(ty, module)).collect();
                if arguments.is_empty() { name } else { format!("{name}<{}>", arguments.join(", ")) }
            }
        }
    }

    /// The name of a foreign type in a module: in the prelude, imported, renamed, or as a full path.
    pub fn foreign(&mut self, path: &'static str, module: usize) -> String {
        let last = path.rsplit("::").next().unwrap();
        if matches!(last, "Option" | "Vec" | "Box") && self.dice.percent(95) {
            return last.into();
        }
        match self.dice.below(6) {
            0 => path.into(),
            1 => {
                let renamed = format!("{last}Of{}", path.rsplit("::").nth(1).unwrap());
                self.import(module, &renamed, path).unwrap_or_else(|| path.into())
            }
            2 => {
                let (parent, _) = path.rsplit_once("::").unwrap();
                let parent_name = parent.rsplit("::").next().unwrap().to_owned();
                // Names of foreign modules that no module of the kind has.
                if matches!(parent_name.as_str(), "collections" | "net" | "v1" | "serde_json" | "intstr") {
                    match self.import(module, &parent_name, parent) {
                        Some(name) => format!("{name}::{last}"),
                        None => path.into(),
                    }
                } else {
                    path.into()
                }
            }
            _ => self.import(module, last, path).unwrap_or_else(|| path.into()),
        }
    }

    /// The name of a declared type in a module.
    fn declared(&mut self, index: usize, module: usize) -> String {
        let Declared { name, module: home, .. } = &self.types[index];
        let (name, home) = (name.clone(), *home);
        self.local(&name, home, module)
    }

    /// The name of an item of the module `home` in another module.
    pub fn local(&mut self, name: &str, home: usize, module: usize) -> String {
        if home == module {
            return if self.dice.percent(8) { format!("self::{name}") } else { name.into() };
        }
        let absolute = self.absolute(home);
        let relative = {
            let supers = "super::".repeat(self.modules[module].path.len());
            let below: String = self.modules[home].path.iter().map(|part| format!("{part}::")).collect();
            if supers.is_empty() { format!("self::{below}") } else { format!("{supers}{below}") }
        };
        match self.dice.below(8) {
            0 => format!("{absolute}::{name}"),
            1 => format!("{relative}{name}"),
            2 => {
                self.modules[module].uses.insert(format!("use {absolute}::*;"));
                name.into()
            }
            3 => {
                let renamed = format!("{name}Renamed");
                self.import(module, &renamed, &format!("{relative}{name}")).unwrap()
            }
            // Through a re-export at the kind's root.
            4 if home != 0 && module != 0 => {
                let exported = format!("{name}Exported");
                let below = self.modules[home].path.join("::");
                self.modules[0].uses.insert(format!("pub use self::{below}::{name} as {exported};"));
                format!("crate::{}::{exported}", self.name)
            }
            5 => {
                let parent = relative.trim_end_matches("::").to_owned();
                let below = parent.rsplit("::").next().unwrap().to_owned();
                if matches!(below.as_str(), "self" | "super") || module == 0 {
                    return format!("{relative}{name}");
                }
                match self.import(module, &below, &absolute) {
                    Some(imported) => format!("{imported}::{name}"),
                    None => format!("{relative}{name}"),
                }
            }
            _ => self.import(module, name, &format!("{absolute}::{name}")).unwrap_or(format!("{absolute}::{name}")),
        }
    }

    pub fn absolute(&self, module: usize) -> String {
        let below: String = self.modules[module].path.iter().map(|part| format!("::{part}")).collect();
        format!("crate::{}{below}", self.name)
    }

    /// Imports a path; `None` if the name is already used in the module.
    fn import(&mut self, module: usize, name: &str, path: &str) -> Option<String> {
        let here = &self.modules[module].path;
        if self.modules.iter().any(|other| other.path.split_last() == Some((&name, here))) {
            return None;
        }
        let module = &mut self.modules[module];
        let last = path.rsplit("::").next().unwrap();
        match module.names.get(name) {
            // rustc rejects a second import of the same name, even by another path of the same item.
            Some(known) => (known == path).then(|| name.to_owned()),
            None => {
                module.names.insert(name.into(), path.into());
                let rename = if name == last { String::new() } else { format!(" as {name}") };
                module.uses.insert(format!("use {path}{rename};"));
                Some(name.into())
            }
        }
    }
}
