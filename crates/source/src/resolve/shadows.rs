//! Macros, traits and methods of the crate that may shadow those of std.
//!
//! Macros and traits are not in the module tree for manifests, so they are found in the tokens of all files. A trait
//! counts as in scope if its name is visible. A glob of another crate is read in its source.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::foreign::Missing;
use super::modules::{ModuleId, Modules, UsePath};
use super::names::{Namespace, Target, follow, resolve};
use opctl_model::lexer::{Token, code};

/// Crates whose names opctl knows: a glob of them imports no method or macro with a name of std's.
const HARMLESS: &[&str] =
    &["std", "core", "alloc", "k8s_openapi", "kube", "kube_core", "schemars", "serde", "serde_json"];

/// A name from a macro's output.
const ANY: &str = "$";

/// The macros, traits and methods that a crate declares.
#[derive(Default)]
struct Declared {
    macros: BTreeSet<String>,
    /// Traits with their methods.
    traits: BTreeMap<String, BTreeSet<String>>,
    /// Inherent functions of types.
    methods: BTreeSet<String>,
}

/// Methods of std that values of types in the source also have.
pub const OF_ANY: &[&str] = &["clone", "into"];

/// `true` if a text may have a function with this name. It only compares bytes.
fn may_define(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].trim_end();
        // After `fn`, a comment, or `r#`.
        let line = before.lines().next_back().unwrap_or_default();
        before.ends_with("fn") || before.ends_with("*/") || before.ends_with('#') || line.contains("//")
    })
}

impl Declared {
    fn add(&mut self, text: &str) {
        let has_words = ["macro_rules", "trait", "Into"].iter().any(|word| text.contains(word));
        if !has_words && !OF_ANY.iter().any(|method| may_define(text, method)) {
            return;
        }
        let tokens: Vec<_> = code(text);
        let word = |index: usize| match tokens.get(index) {
            Some((Token::Word, range)) => Some(&text[range.clone()]),
            _ => None,
        };
        let sign = |index: usize| match tokens.get(index) {
            Some((Token::Sign(sign), _)) => Some(*sign),
            _ => None,
        };
        // After the head of an item.
        let body = |at: usize| (at..tokens.len()).find(|index| matches!(sign(*index), Some(b'{' | b';')));
        let functions = |open: usize| {
            let mut depth = 0;
            let is_inside = |index: &usize| {
                depth += i32::from(sign(*index) == Some(b'{')) - i32::from(sign(*index) == Some(b'}'));
                depth > 0
            };
            let inside: Vec<usize> = (open..tokens.len()).take_while(is_inside).collect();
            let names = inside.into_iter().filter(|index| word(*index) == Some("fn"));
            names.map(|index| word(index + 1).unwrap_or(ANY).to_string()).collect::<Vec<_>>()
        };
        for at in 0..tokens.len() {
            match word(at) {
                Some("impl") => {
                    let Some(open) = body(at) else { continue };
                    let mut depth = 0;
                    let outside = (at + 1..open).filter(|index| {
                        depth += i32::from(sign(*index) == Some(b'<')) - i32::from(sign(*index) == Some(b'>'));
                        depth == 0
                    });
                    let head: Vec<&str> = outside.filter_map(word).collect();
                    match head.iter().position(|word| *word == "for") {
                        None => self.methods.extend(functions(open)),
                        // `impl Into<Own> for …` takes precedence over std's blanket `impl`, which uses `From`.
                        Some(end) if end > 0 && head[end - 1] == "Into" => {
                            _ = self.traits.entry("Into".into()).or_default()
                        }
                        Some(_) => {}
                    }
                }
                Some("macro_rules") if sign(at + 1) == Some(b'!') => {
                    self.macros.insert(word(at + 2).unwrap_or(ANY).into());
                }
                Some("trait") => {
                    let methods = self.traits.entry(word(at + 1).unwrap_or(ANY).into()).or_default();
                    methods.extend(body(at).map(functions).unwrap_or_default());
                }
                _ => {}
            }
        }
    }
}

/// Declarations of the project (`None`) and of the crates that it uses, by their roots; each is read on demand.
pub struct Shadows<'a> {
    modules: &'a Modules,
    crates: HashMap<Option<ModuleId>, Rc<Declared>>,
    scopes: HashMap<ModuleId, Rc<Reach>>,
}

impl<'a> Shadows<'a> {
    pub fn new(modules: &'a Modules) -> Self {
        Self { modules, crates: HashMap::new(), scopes: HashMap::new() }
    }

    fn declared(&mut self, module: ModuleId) -> Rc<Declared> {
        let krate = self.modules.is_foreign(module).then(|| self.modules.root(module));
        if let Some(declared) = self.crates.get(&krate) {
            return declared.clone();
        }
        let mut declared = Declared::default();
        match krate {
            None => self.modules.files().iter().for_each(|file| declared.add(&file.text)),
            Some(_) => {
                let modules = self.modules.whole_crate(module);
                let mut files: Vec<_> = modules.iter().map(|id| self.modules.module(*id).file.clone()).collect();
                files.dedup_by(|one, other| one.path == other.path);
                files.iter().for_each(|file| declared.add(&file.text));
            }
        }
        let declared = Rc::new(declared);
        self.crates.insert(krate, declared.clone());
        declared
    }

    /// `true` if the crate declares a trait with this name.
    pub fn is_own_trait(&mut self, name: &str, module: ModuleId) -> bool {
        let declared = self.declared(module);
        declared.traits.contains_key(name) || declared.traits.contains_key(ANY)
    }

    /// `true` if a type of the crate has an inherent method with this name, which takes precedence over that of any
    /// trait.
    pub fn is_own_method(&mut self, method: &str, module: ModuleId) -> bool {
        self.declared(module).methods.contains(method)
    }

    /// `true` if `value.method()` may be a method of a trait of the crate, or of one that a glob imports.
    pub fn may_be_of_own_trait(&mut self, method: &str, module: ModuleId) -> bool {
        let reach = self.reach(module);
        if reach.is_unknown {
            return true;
        }
        let may_have = |methods: &BTreeSet<String>| methods.contains(method) || methods.contains(ANY);
        let is_seen = |name: &String| {
            reach.modules.iter().any(|id| {
                let module = self.modules.module(*id);
                // A macro may import it.
                name == ANY || !module.macros.is_empty() || module.file.text.contains(name)
            })
        };
        reach.declared.iter().any(|declared| {
            let mut traits = declared.traits.iter().filter(|(_, methods)| may_have(methods));
            traits.any(|(name, _)| is_seen(name))
        }) || reach.traits.iter().any(may_have)
    }

    /// `true` if `name!` may be a macro of the crate, or one that it imports from another crate than `of`.
    pub fn is_own_macro(&mut self, name: &str, of: &str, module: ModuleId) -> bool {
        let reach = self.reach(module);
        let is_imported = reach.modules.iter().any(|id| {
            let module = self.modules.module(*id);
            let imports = module.uses.get(name).into_iter().flatten();
            imports.into_iter().any(|used| match resolve(self.modules, *id, &used.path, Namespace::Macro) {
                Some(Target::Foreign(foreign)) => !foreign.path.iter().any(|segment| segment == of),
                _ => !used.path.segments.iter().any(|segment| segment == of),
            })
        });
        let is_declared = |declared: &Rc<Declared>| declared.macros.contains(name) || declared.macros.contains(ANY);
        reach.is_unknown || is_imported || reach.declared.iter().any(is_declared)
    }

    /// The items that are in scope in a module through globs.
    fn reach(&mut self, module: ModuleId) -> Rc<Reach> {
        if let Some(reach) = self.scopes.get(&module) {
            return reach.clone();
        }
        let mut reach = Reach { modules: vec![module], ..Reach::default() };
        let mut next = 0;
        while let Some(&id) = reach.modules.get(next) {
            next += 1;
            let here = self.modules.module(id);
            for glob in &here.globs {
                match self.behind(id, &glob.path) {
                    Found::Read(Target::Module(found)) if !reach.modules.contains(&found) => reach.modules.push(found),
                    Found::Unread | Found::Made => reach.is_unknown = true,
                    Found::Read(_) | Found::Nothing => {}
                }
            }
            // The crate of a glob may re-export the traits of another one.
            let handed_on = here.uses.iter().filter(|_| self.modules.is_foreign(id));
            for (bound, used) in handed_on.flat_map(|(bound, uses)| uses.iter().map(move |used| (bound, used))) {
                match self.behind(id, &used.path) {
                    Found::Read(Target::Item(at, name)) if self.modules.module(at).trait_names.contains(&name) => {
                        reach.traits.extend(self.declared(at).traits.get(&name).cloned());
                    }
                    Found::Unread => reach.is_unknown = true,
                    // A lower-case name is a function or a macro.
                    Found::Made => reach.is_unknown |= bound.starts_with(char::is_uppercase),
                    Found::Read(_) | Found::Nothing => {}
                }
            }
        }
        let mut crates = BTreeSet::new();
        for id in &reach.modules {
            if crates.insert(self.modules.is_foreign(*id).then(|| self.modules.root(*id))) {
                reach.declared.push(self.declared(*id));
            }
        }
        let reach = Rc::new(reach);
        self.scopes.insert(module, reach.clone());
        reach
    }

    /// The item that an import refers to, in the source of its crate.
    fn behind(&self, module: ModuleId, path: &UsePath) -> Found {
        let Some(mut target) = resolve(self.modules, module, path, Namespace::Type) else { return Found::Nothing };
        while let Target::Foreign(foreign) = &target {
            if HARMLESS.contains(&foreign.path[0].as_str()) {
                return Found::Nothing;
            }
            target = match follow(self.modules, foreign, Namespace::Type) {
                Ok(Some(Target::Foreign(next))) if next == *foreign => return Found::Unread,
                Ok(Some(next)) => next,
                Ok(None) if foreign.via.is_some() => return Found::Made,
                // The crate has only procedural macros.
                Err(Missing::Library { .. }) => return Found::Nothing,
                Ok(None) | Err(_) => return Found::Unread,
            };
        }
        Found::Read(target)
    }
}

/// The item that an import refers to.
enum Found {
    Read(Target),
    /// An item without methods or macros.
    Nothing,
    /// A macro declares it, or it is not a type, trait or module.
    Made,
    /// The source of its crate is not on disk.
    Unread,
}

/// The items in scope in a module.
#[derive(Default)]
struct Reach {
    /// The module itself, and the modules whose names globs import.
    modules: Vec<ModuleId>,
    /// The declarations of their crates.
    declared: Vec<Rc<Declared>>,
    /// The methods of each trait that another crate re-exports.
    traits: Vec<BTreeSet<String>>,
    /// A glob imports unknown names.
    is_unknown: bool,
}
